"""Tasks whose models are still being trained: the command that continues each, from a file in its directory."""

from pathlib import Path

from harness.format.fetched import read_command
from harness.format.files import visible_directories
from harness.format.layout import BUILDING
from harness.shell import typed

#: File in the directory of such a task with what names its recipe: a file, or the name of a recipe in the package.
RECIPE_ARGUMENT = "recipe.argument"


def unfinished_tasks(root: Path) -> dict[str, str]:
    """Return the tasks of a directory that are not finished: name -> the command that continues."""
    return {
        directory.name: command_to_continue(root, directory.name) for directory in visible_directories(root / BUILDING)
    }


def command_to_continue(root: Path, task: str) -> str:
    """Return the command that continues a task; it has the word RECIPE if the recipe's place is not known."""
    argument = read_command(root / BUILDING / task / RECIPE_ARGUMENT)
    recipe = typed(argument) if argument else "RECIPE"
    return f"pgdl task build {recipe} --output {typed(str(root))}"
