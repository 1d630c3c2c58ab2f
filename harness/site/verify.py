"""Computes a site again from its records and compares every byte.

Processors differ in the last digits of logarithms and sums, so numbers with all digits may differ by `ROUNDING`.
"""

import json
import math
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from harness.errors import UserError
from harness.parsing import parse_json
from harness.reading import read_below
from harness.site.bounds import MAX_DIFFERENCES, errors_in_one_line, one_line
from harness.site.card import CARD
from harness.site.files import SETTINGS, read_files, to_files
from harness.site.pages import make_site, render_site

BOARD = "leaderboard.json"

#: Relative difference of two numbers that count as the same.
ROUNDING = 1e-9

#: Digits from which a number is not one that somebody has rounded.
ALL_DIGITS = 15

#: It begins at the first of some digits: of a million of them, each would otherwise be tried as the beginning.
_NUMBER = re.compile(r"(?<![0-9])-?[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?")


@dataclass(frozen=True)
class Verified:
    """The result of a verification.

    Attributes:
        differences: lines that name what differs, the first row of the board first; empty if the site is as computed.
        head: last digest of the chain of records.
        n_records: number of records.
        n_files: number of files compared.
        withheld: hidden tasks, whose results were taken as they are.
    """

    differences: tuple[str, ...]
    head: str
    n_records: int
    n_files: int
    withheld: tuple[str, ...]


def verify_site(directory: Path | str) -> Verified:
    """Verify a site that anybody may have made: only regular files in it are read, within bounds.

    Raises `UserError` if its data are missing or malformed, if a record is not the one that the chain has, or if the
    site was made with other versions of the program.
    """
    directory = Path(directory)
    if not os.path.lexists(directory / SETTINGS):
        raise UserError("not a site", file=directory, expected=f"a directory of `pgdl board --html`, with {SETTINGS}")
    with errors_in_one_line():
        data = read_files(directory)
        files, head = to_files(data)
        files |= render_site(make_site(data, head))
    differences = tuple(one_line(line) for line in islice(_differences(files, directory), MAX_DIFFERENCES))
    return Verified(differences, head, len(data.records), len(files), tuple(map(one_line, data.settings.hidden)))


def _differences(computed: Mapping[str, bytes], directory: Path) -> Iterator[str]:
    """Yield a line on each difference between a directory and the files of the site."""
    yield from _rows(computed[BOARD], directory)
    for name, content in computed.items():
        if (problem := _problem(content, directory, name)) is not None:
            yield f"{name}: {problem}"
    folders = {folder.as_posix() for name in computed for folder in PurePosixPath(name).parents}
    yield from sorted(islice(_strange(directory, "", computed, folders), MAX_DIFFERENCES))


def _rows(computed: bytes, directory: Path) -> Iterator[str]:
    """Yield a line on the first row of the board that differs."""
    try:
        found = parse_json(_read(directory, BOARD, computed))["rows"]
        pairs = list(zip(json.loads(computed)["rows"], found, strict=False))
    except (UserError, ValueError, LookupError, TypeError):
        return  # reported with the other files
    for number, (expected, row) in enumerate(pairs, start=1):
        if not _same(json.dumps(expected), json.dumps(row)):
            yield f"{BOARD}: row {number} ({expected['submission']}): {_first(expected, row)}"
            return


def _first(expected: Any, found: Any, where: str = "") -> str:
    """Describe the first value that differs."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        key = next(key for key in expected if not _same(json.dumps(expected[key]), json.dumps(found[key])))
        return _first(expected[key], found[key], f"{where}.{key}" if where else key)
    return f"{where or 'row'}: computed {json.dumps(expected)}, found {json.dumps(found)}"


def _strange(directory: Path, below: str, names: Collection[str], folders: Collection[str]) -> Iterator[str]:
    """Yield a line on each link, and on each file and folder that is not part of the site."""
    with os.scandir(directory / below) as entries:
        for entry in entries:
            name = f"{below}{entry.name}"
            if entry.is_symlink():
                yield f"{name}: a link"
            elif name in folders and entry.is_dir(follow_symlinks=False):
                yield from _strange(directory, f"{name}/", names, folders)
            elif name not in names and name != CARD:
                yield f"{name}: not part of the site"


def _problem(content: bytes, directory: Path, name: str) -> str | None:
    if not os.path.lexists(directory / name):
        return "missing"
    if (directory / name).is_symlink():
        return None  # which `_strange` says
    try:
        found = _read(directory, name, content)
    except UserError as error:
        return str(error).removeprefix(f"{directory / name}: ")
    same = found == content or _same(_text(content), _text(found))
    return None if same else f"line {_line(content, found)} differs"


def _read(directory: Path, name: str, expected: bytes) -> bytes:
    """Return the content of a file; raises `UserError` if it is none, or far larger than the expected content."""
    return read_below(directory, name, 2 * len(expected) + 1000)


def _same(expected: str, found: str) -> bool:
    """Whether two texts are the same but for the last digits of numbers."""
    if expected == found:
        return True
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(found), strict=False)
    close = all(one == other or _is_rounding(one, other) for one, other in pairs)
    return close and _NUMBER.split(expected) == _NUMBER.split(found)


def _is_rounding(expected: str, found: str) -> bool:
    """Whether two numbers differ as two processors round, and are written alike: as many decimals, or all digits."""
    if not math.isclose(float(expected), float(found), rel_tol=ROUNDING):
        return False
    decimals = len(expected.partition(".")[2])
    if "e" not in expected and f"{float(found):.{decimals}f}" == found:
        return True
    digits = [len(re.sub(r"e.*|\D", "", one)) for one in (expected, found)]
    return all(repr(float(one)) == one for one in (expected, found)) and max(digits) >= ALL_DIGITS


def _text(content: bytes) -> str:
    return content.decode(errors="surrogateescape")


def _line(expected: bytes, found: bytes) -> int:
    """Return the number of the first line that differs."""
    pairs = zip(expected.splitlines(), found.splitlines(), strict=False)
    same = 0
    for one, other in pairs:
        if one != other:
            break
        same += 1
    return same + 1
