"""The recipes in the package, by name."""

from contextlib import suppress
from pathlib import Path

from harness import shipped
from harness.errors import UserError
from harness.format.files import natural
from harness.hints import did_you_mean

_LISTED = "`pgdl task recipes` lists the recipes in the package"


def recipes() -> dict[str, Path]:
    """Return name -> file, pgdl_task2 before pgdl_task10; raises `UserError` if they are missing."""
    files = (shipped.task_data() / "recipes").glob("*.toml")
    return {file.stem: file for file in sorted(files, key=lambda file: natural(file.stem))}


def find_recipe(argument: str) -> Path:
    """Return the file of a recipe, given as a path or as the name of a recipe in the package.

    Raises:
        UserError: there is no file and no recipe of that name.
    """
    path = Path(argument)
    if path.is_file():
        return path
    known = recipes()
    if argument in known:
        return known[argument]
    remedy = did_you_mean(path.stem, known) or _LISTED
    raise UserError("no such recipe", file=argument, expected="a file, or a name", found="neither", remedy=remedy)


def argument_of(file: Path) -> str:
    """Return the argument of `find_recipe` for a file in any directory: a name in the package, or a whole path."""
    with suppress(UserError):
        if recipes().get(file.stem) == file:
            return file.stem
    return str(file.absolute())
