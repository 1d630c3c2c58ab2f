"""Finds the recipes that are in the package, by name."""

from pathlib import Path

from harness.errors import UserError
from harness.format.files import natural
from harness.hints import did_you_mean
from harness.shipped import shipped_directory

_LISTED = "`pgdl task recipes` lists the recipes in the package"


def recipes() -> dict[str, Path]:
    """Return name -> file of each recipe in the package, pgdl_task2 before pgdl_task10."""
    files = (shipped_directory("task_data") / "recipes").glob("*.toml")
    return {file.stem: file for file in sorted(files, key=lambda file: natural(file.stem))}


def find_recipe(argument: str) -> Path:
    """Return the file of a recipe; `argument` is a path, or the name of a recipe in the package.

    Raise `UserError` if there is no such file or recipe.
    """
    path = Path(argument)
    if path.is_file():
        return path
    known = recipes()
    if argument in known:
        return known[argument]
    remedy = did_you_mean(path.stem, known) or _LISTED
    found = "a directory" if path.is_dir() else "neither"
    raise UserError("no such recipe", file=argument, expected="a file, or a name", found=found, remedy=remedy)
