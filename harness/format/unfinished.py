"""Tasks whose models are still being trained: the command that continues each, from a file in its directory."""

from pathlib import Path

from harness.errors import UserError
from harness.format.files import visible_directories
from harness.format.layout import BUILDING
from harness.reading import read_regular
from harness.shell import is_name, typed

#: File in the directory of such a task with what names its recipe: a file, or the name of a recipe in the package.
RECIPE_ARGUMENT = "recipe.argument"

#: Its largest size in bytes.
MOST = 4096


def unfinished_tasks(root: Path) -> dict[str, str]:
    """Return the tasks of a directory that are not finished: name -> the command that continues."""
    return {
        directory.name: command_to_continue(root, directory.name) for directory in visible_directories(root / BUILDING)
    }


def command_to_continue(root: Path, task: str) -> str:
    """Return the command that continues a task; it has the word RECIPE if the recipe's place is not known."""
    try:
        recipe = read_regular(root / BUILDING / task / RECIPE_ARGUMENT, MOST, links=False).decode().strip()
    except (UserError, UnicodeError):
        recipe = ""
    return typed("pgdl", "task", "build", recipe if is_name(recipe) else "RECIPE", "--output", str(root))
