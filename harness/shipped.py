"""Data that comes with the package: a demo task, recipes, example submissions.

It stands at the top of the repository, in task_data/ and submissions/. A wheel carries the part of it that
pyproject.toml names; a checkout has all of it.
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


def copy_files(source: Path, target: Path) -> None:
    """Copy what is below a directory, but for what Python compiled there: pip compiles whatever it installs.

    Raises `OSError` for the first file that cannot be copied.
    """
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source)
        if file.is_file() and "__pycache__" not in name.parts:
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)


def _find(name: str) -> Path:
    in_wheel, in_checkout = _PACKAGE / "shipped" / name, _PACKAGE.parent / name
    for place in (in_wheel, in_checkout):
        if place.is_dir():
            return place
    raise UserError("missing", file=in_wheel, expected="a part of the package", remedy="install pgdl-harness again")
