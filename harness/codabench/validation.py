"""Checks a bundle before it is uploaded."""

import zipfile
from pathlib import Path

from harness.codabench.competition import Competition
from harness.codabench.description import NAME
from harness.codabench.opened import OpenedBundle
from harness.codabench.rules import hidden_in, problems_of
from harness.codabench.schema import Description
from harness.errors import UserError, UserErrors
from harness.format.archive import open_archive, read_member
from harness.plain_yaml import parse_yaml
from harness.task.layout import TaskDirectory
from harness.text import printable
from harness.toml import checked

#: Longest line on a problem, in characters, since it may quote the description; most bytes of that.
LONGEST, MAX_BYTES = 500, 1024**2


def validate_bundle(file: Path, competition: Competition | None = None) -> list[str]:
    """Return the problems of a bundle, a line each: by the platform's rules, and what gives hidden tasks away.

    Where the description is not as the platform wants it, files are not looked at. With the organiser's own one, the
    bundle is also searched for names and files of hidden tasks. Raises `UserError`.
    """
    with open_archive(file) as archive:
        try:
            content = parse_yaml(_description(archive))
        except ValueError as error:
            raise UserError(NAME, expected="YAML", found=printable(str(error))[:200]) from error
        if not isinstance(content, dict):
            raise UserError(NAME, expected="keys and values", found=type(content).__name__)
        try:
            description = checked(Description, content, "", Path(NAME))
        except UserErrors as error:
            return [line[:LONGEST] for line in error.lines]
        bundle = OpenedBundle(archive)
        problems = list(problems_of(bundle, description))
        if competition and (names := competition.hidden_tasks):
            problems += hidden_in(bundle, names, TaskDirectory(Path(competition.tasks)).runnable(names))
    return [printable(line)[:LONGEST] for line in problems]


def _description(archive: zipfile.ZipFile) -> bytes:
    names = archive.namelist()
    if NAME not in names:
        inside = next((name for name in names if name.endswith(f"/{NAME}")), None)
        found = f"it in a folder, {printable(inside)}" if inside else "none"
        raise UserError(f"no {NAME} at the top", expected="it beside the other files", found=found)
    return read_member(archive, NAME, MAX_BYTES)
