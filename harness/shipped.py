"""Finds the data shipped with the package: demo tasks, recipes, example submissions, workflows, pages.

A wheel has the files that pyproject.toml names, and a checkout has all files in task_data/, submissions/,
.github/workflows/ and docs/.
"""

import shutil
from pathlib import Path

from harness.errors import UserError

_PACKAGE = Path(__file__).parent


def task_data() -> Path:
    """Return the directory of recipes/, input_data/ and reference_data/; raises `UserError` if it is missing."""
    return _find("task_data")


def submissions() -> Path:
    """Return the directory of the example submissions; raises `UserError` if it is missing."""
    return _find("submissions")


def workflows() -> Path:
    """Return the directory of the leaderboard's workflows for GitHub; raises `UserError` if it is missing."""
    return _find(".github/workflows")


def pages() -> Path:
    """Return the directory of the documentation's pages; raises `UserError` if it is missing."""
    return _find("docs")


def copy_files(source: Path, target: Path) -> None:
    """Copy all files below a directory except compiled Python, which pip creates when it installs the package.

    Raises `OSError` for the first file that cannot be copied.
    """
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source)
        if file.is_file() and "__pycache__" not in name.parts:
            copy = target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def _find(name: str) -> Path:
    in_wheel, in_checkout = _PACKAGE / "shipped" / name, _PACKAGE.parent / name
    for directory in (in_wheel, in_checkout):
        if directory.is_dir():
            return directory
    raise UserError("missing", file=in_wheel, expected="a part of the package", remedy="install pgdl-harness again")
