"""Computes a site again from its data, and compares every file.

Processors differ in the last digits of logarithms and sums, so unrounded numbers may differ by `ROUNDING`.
"""

import math
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile, zip_longest
from pathlib import Path, PurePosixPath

from harness.errors import UserError
from harness.reading import read_below
from harness.site.files import SETTINGS, read_files, to_files
from harness.site.pages import render_site
from harness.text import cut

#: Maximum number of reported differences, and of characters of a message.
MAX_DIFFERENCES, MAX_MESSAGE = 1000, 500

#: Numbers of characters that a message shows of a line: before the first difference, and in all.
BEFORE, SHOWN = 20, 80

#: Unrounded numbers with at most this relative difference are equal.
ROUNDING = 1e-9

#: Minimum number of digits of a number that was not rounded for readers.
ALL_DIGITS = 15

#: A number with a decimal point. Without the look-behind, the search in a million digits would start at each digit.
_NUMBER = re.compile(r"(?<![0-9])-?[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?")
_PIECES = re.compile(f"({_NUMBER.pattern})")  #: divides a text into numbers and the texts between


@dataclass(frozen=True)
class Verified:
    """The result of comparing a site with the site that is computed from its data."""

    differences: tuple[str, ...]  #: a line for each difference; empty if the site equals the computed site
    head: str  #: last digest of the chain of records
    n_records: int
    n_files: int  #: number of compared files
    withheld: tuple[str, ...]  #: hidden tasks, whose results cannot be verified


def verify_site(directory: Path | str) -> Verified:
    """Compute a site again from its data, and compare every file. The site may be hostile.

    Raise `UserError` if the data are missing or malformed, if a record has a wrong digest, or if another version of
    this program made the site.
    """
    directory = Path(directory)
    if not os.path.lexists(directory / SETTINGS):
        raise UserError("not a site", file=directory, expected=f"a directory of `pgdl board --html`, with {SETTINGS}")
    try:
        data = read_files(directory)
        files, head = to_files(data)
        files |= render_site(data, head)
    except UserError as error:
        raise UserError(cut(str(error).replace("\n", "; "), MAX_MESSAGE)) from error
    found = islice(_differences(files, directory), MAX_DIFFERENCES)
    differences = tuple(cut(line, MAX_MESSAGE) for line in found)
    hidden = tuple(cut(name, MAX_MESSAGE) for name in data.settings.hidden)
    return Verified(differences, head, len(data.records), len(files), hidden)


def _differences(computed: Mapping[str, bytes], directory: Path) -> Iterator[str]:
    """Yield a line on each file that differs, is missing, or does not belong to the site."""
    for name, content in computed.items():
        if (problem := _problem(content, directory, name)) is not None:
            yield f"{name}: {problem}"
    folders = {folder.as_posix() for name in computed for folder in PurePosixPath(name).parents}
    yield from sorted(islice(_strange(directory, "", computed, folders), MAX_DIFFERENCES))


def _strange(directory: Path, below: str, names: Collection[str], folders: Collection[str]) -> Iterator[str]:
    """Yield a line on each link below a directory, and on each file and folder that is not part of the site."""
    try:
        with os.scandir(directory / below) as entries:
            for entry in entries:
                name = f"{below}{entry.name}"
                if entry.is_symlink():
                    yield f"{name}: a link"
                elif name in folders and entry.is_dir(follow_symlinks=False):
                    yield from _strange(directory, f"{name}/", names, folders)
                elif name not in names:
                    yield f"{name}: not part of the site"
    except OSError as error:
        yield f"{below or directory}: cannot be read: {error.strerror}"


def _problem(content: bytes, directory: Path, name: str) -> str | None:
    if not os.path.lexists(directory / name):
        return "missing"
    if (directory / name).is_symlink():
        return None  # `_strange` reports links
    try:
        found = read_below(directory, name, 2 * len(content) + 1000)
    except UserError as error:
        return str(error).removeprefix(f"{directory / name}: ")
    lines = (one.decode(errors="surrogateescape").split("\n") for one in (content, found))
    for number, pair in enumerate(zip_longest(*lines), start=1):
        if None in pair or not _same(*pair):
            return f"line {number}: {_difference(*pair)}"
    return None


def _difference(expected: str | None, found: str | None) -> str:
    """Describe how two lines differ: quote both near their first difference. None stands for a missing line."""
    start = [0, 0]
    for pair in zip(*(_PIECES.split(line or "") for line in (expected, found)), strict=False):
        if not _same(*pair):
            common = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(*pair, strict=False)))
            start = [place + common for place in start]
            break
        start = [place + len(piece) for place, piece in zip(start, pair, strict=True)]
    texts = [
        "no line" if line is None else repr(line[max(0, place - BEFORE) :][:SHOWN])
        for line, place in zip((expected, found), start, strict=True)
    ]
    return f"expected {texts[0]}, found {texts[1]}"


def _same(expected: str, found: str) -> bool:
    """Whether two texts are equal up to the rounding of numbers."""
    if expected == found:
        return True
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(found), strict=False)
    close = all(one == other or _is_rounding(one, other) for one, other in pairs)
    return close and _NUMBER.split(expected) == _NUMBER.split(found)


def _is_rounding(expected: str, found: str) -> bool:
    """Whether two numbers differ by a relative error of at most `ROUNDING`.

    They must have the same number of decimals, or both be written with all digits of a float.
    """
    if not math.isclose(float(expected), float(found), rel_tol=ROUNDING):
        return False
    decimals = len(expected.partition(".")[2])
    if "e" not in expected and f"{float(found):.{decimals}f}" == found:
        return True
    digits = [len(re.sub(r"e.*|\D", "", one)) for one in (expected, found)]
    return all(repr(float(one)) == one for one in (expected, found)) and max(digits) >= ALL_DIGITS
