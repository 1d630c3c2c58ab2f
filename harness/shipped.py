"""Directories that are part of the package: task_data, submissions, .github/workflows and docs.

A checkout has all their files. A wheel has only the files that pyproject.toml names.
"""

import shutil
from pathlib import Path

from harness.errors import UserError

_PACKAGE = Path(__file__).parent


def shipped_directory(name: str) -> Path:
    """Return the path of a directory by its name in the repository. Raise `UserError` if it is missing."""
    in_wheel, in_checkout = _PACKAGE / "shipped" / name, _PACKAGE.parent / name
    for directory in (in_wheel, in_checkout):
        if directory.is_dir():
            return directory
    raise UserError("missing", file=in_wheel, expected="a part of the package", remedy="install pgdl-harness again")


def copy_files(source: Path, target: Path) -> None:
    """Copy all files below `source` to `target`, except compiled Python. Raise `OSError` if that fails."""
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source)
        if file.is_file() and "__pycache__" not in name.parts:
            copy = target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
