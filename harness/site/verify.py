"""Computes a site again from its records and compares every byte.

Processors differ in the last digits of logarithms and sums, so numbers with all digits may differ by `ROUNDING`.
"""

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from harness.errors import UserError
from harness.site.files import SETTINGS, read_files, to_files
from harness.site.pages import make_site, render_site
from harness.text import printable

BOARD = "leaderboard.json"

#: Relative difference of two numbers that count as the same.
ROUNDING = 1e-9

#: Digits from which a number is not one that somebody has rounded.
ALL_DIGITS = 15

_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


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


def verify_site(directory: Path) -> Verified:
    """Verify a site.

    Raises `UserError` if its data are missing or malformed, if a record is not the one that the chain has, or if the
    site was made with other versions of the program.
    """
    if not (directory / SETTINGS).is_file():
        raise UserError("not a site", file=directory, expected=f"a directory of `pgdl board --html`, with {SETTINGS}")
    data = read_files(directory)
    files, head = to_files(data)
    files |= render_site(make_site(data, head))
    differences = [*_rows(files[BOARD], directory / BOARD), *_files(files, directory)]
    return Verified(tuple(differences), head, len(data.records), len(files), tuple(data.settings.hidden))


def _rows(computed: bytes, file: Path) -> list[str]:
    """Return a line on the first row of the board that differs."""
    try:
        found = json.loads(file.read_bytes())["rows"]
        pairs = list(zip(json.loads(computed)["rows"], found, strict=False))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []  # reported with the other files
    for number, (expected, row) in enumerate(pairs, start=1):
        if not _same(json.dumps(expected), json.dumps(row)):
            return [f"{BOARD}: row {number} ({expected['submission']}): {_first(expected, row)}"]
    return []


def _first(expected: Any, found: Any, where: str = "") -> str:
    """Describe the first value that differs."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        key = next(key for key in expected if not _same(json.dumps(expected[key]), json.dumps(found[key])))
        return _first(expected[key], found[key], f"{where}.{key}" if where else key)
    return f"{where or 'row'}: computed {json.dumps(expected)}, found {json.dumps(found)}"


def _files(computed: Mapping[str, bytes], directory: Path) -> list[str]:
    lines = [
        f"{printable(name)}: {problem}"
        for name, content in computed.items()
        if (problem := _problem(content, directory / name))
    ]
    folders = {folder.as_posix() for name in computed for folder in PurePosixPath(name).parents}
    for root, subfolders, files in os.walk(directory):
        for name in sorted((*subfolders, *files)):
            path = Path(root, name)
            relative = path.relative_to(directory).as_posix()
            if path.is_symlink():
                lines.append(f"{printable(relative)}: a link")
            elif relative not in (folders if name in subfolders else computed):
                lines.append(f"{printable(relative)}: not part of the site")
    return lines


def _problem(content: bytes, path: Path) -> str | None:
    if not path.is_file():
        return "missing"
    if path.stat().st_size > 2 * len(content) + 1000:  # it may be too large to be read
        return "differs in size"
    found = path.read_bytes()
    same = found == content or _same(_text(content), _text(found))
    return None if same else f"line {_line(content, found)} differs"


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
