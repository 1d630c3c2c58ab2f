"""Checks a bundle before it is uploaded: by the platform's rules, and by those that keep its secrets."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.codabench import own_rules, phase_rules  # noqa: F401 - they register their rules
from harness.codabench.description import NAME
from harness.codabench.opened import OpenedBundle, is_list_of_tables
from harness.codabench.rules import RULES
from harness.errors import UserError
from harness.format.archive import open_archive, read_member
from harness.plain_yaml import parse_yaml
from harness.text import printable

#: Longest line on a problem, in characters: it may quote the description.
LONGEST = 500

#: Most bytes of the description, and most elements of a list at its top.
MAX_BYTES, MAX_LIST = 1024**2, 200


def validate_bundle(file: Path) -> list[str]:
    """Return the problems of a bundle, one line each, with the place in the platform's sources; raises `UserError`.

    Where the first rule is broken, that of the version, or a list is none, the others are not looked at.
    """
    with open_archive(file) as archive:
        try:
            content = parse_yaml(_description(archive))
        except ValueError as error:
            raise UserError(NAME, expected="YAML", found=printable(str(error))[:200]) from error
        if not isinstance(content, dict):
            raise UserError(NAME, expected="keys and values", found=type(content).__name__)
        bundle = OpenedBundle(archive, content)
        first, *others = RULES
        problems = [*first.lines(bundle)] or [*_shapes(content)]
        problems = problems or [line for rule in others for line in rule.lines(bundle)]
    return [printable(line)[:LONGEST] for line in problems]


def _description(archive: zipfile.ZipFile) -> bytes:
    names = archive.namelist()
    if NAME not in names:
        inside = next((name for name in names if name.endswith(f"/{NAME}")), None)
        found = f"it in a folder, {printable(inside)}" if inside else "none"
        raise UserError(f"no {NAME} at the top", expected="it beside the other files", found=found)
    return read_member(archive, NAME, MAX_BYTES)


def _shapes(content: dict[str, Any]) -> Iterator[str]:
    """Yield the lists that are none, or too long; everything else takes their elements for granted."""
    for key in ("pages", "tasks", "phases", "leaderboards"):
        if key not in content:
            yield f"no {key}"
        elif not is_list_of_tables(content[key]):
            yield f"{key}: expected a list, each element with keys"
    for key, value in content.items():
        if isinstance(value, list) and len(value) > MAX_LIST:
            yield f"{key}: expected at most {MAX_LIST} elements"
    for number, board in enumerate(content.get("leaderboards") or ()):
        if isinstance(board, dict) and not is_list_of_tables(board.get("columns")):
            yield f"leaderboard {number}: columns: expected a list, each element with keys"
