"""Finds incomplete tasks, and the command that completes an incomplete task.

A task is half-fetched if `pgdl task fetch` has not downloaded all its files; beside the files is a `FetchRequest`. A
task is unfinished if `pgdl task build` has not trained all its models; beside the models is the recipe.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.fetched import FETCHING, RECORD
from harness.format.files import parse_json, visible_directories
from harness.format.layout import BUILDING, INPUTS
from harness.reading import read_regular
from harness.shell import is_name, typed

#: Name of the file with the request for a half-fetched task, and its maximum size in bytes.
REQUEST, MOST = "request.json", 1024**2

#: Name of the file with an unfinished task's recipe (path, or name in the package), and its maximum size in bytes.
RECIPE_ARGUMENT, MOST_ARGUMENT_BYTES = "recipe.argument", 4096

#: Name of the file with the digest of a built task's recipe, beside its reference data.
RECIPE_DIGEST = "recipe.sha256"

#: Names of corpora, tasks and models that may appear in a command that users paste.
_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)


@dataclass(frozen=True)
class FetchRequest:
    """The options of a `pgdl task fetch`, without the address of its catalogue, which may contain a password."""

    corpus: str  #: name of the corpus
    models: int | tuple[str, ...] | None  #: number or names of the models; None for all
    whole: bool  #: whether whole archives are fetched
    catalogue: bool  #: whether the command had the option --catalogue

    def write(self, directory: Path) -> None:
        """Write the request into the directory of a half-fetched task."""
        (directory / REQUEST).write_bytes(json.dumps(asdict(self)).encode())


def half_fetched(root: Path) -> dict[str, str]:
    """Return name -> command that completes the download, or advice, for the half-fetched tasks in a directory."""
    return {
        staged.name: _remedy(staged, root)
        for staged in sorted((root / FETCHING).glob("*/"))
        if (staged / RECORD).exists() or not (root / INPUTS / staged.name).exists()
    }


def _remedy(staged: Path, root: Path) -> str:
    file = staged / REQUEST
    try:
        content = parse_json(read_regular(file, MOST, links=False), file)
        command = typed("pgdl", "task", "fetch", *_arguments(content, staged.name), "--tasks", str(root))
    except (UserError, KeyError, TypeError, ValueError):
        return "repeat the command that began to fetch it"
    return f"continue with: {command}{', and the same --catalogue as before' if content['catalogue'] else ''}"


def _arguments(content: Mapping[str, Any], task: str) -> list[str]:
    """Return the arguments in a stored request; an invalid request raises `KeyError`, `TypeError` or `ValueError`."""
    corpus, models, whole, _ = (content[key] for key in ("corpus", "models", "whole", "catalogue"))
    if not all(_NAME.fullmatch(name) for name in (corpus, task, *(models if isinstance(models, list) else []))):
        raise ValueError
    number = ",".join(models) if isinstance(models, list) else "" if models is None else f"{models:d}"
    return [f"{corpus}/{task}", *(["--models", number] if number else []), *(["--whole"] if whole is True else [])]


def unfinished_tasks(root: Path) -> dict[str, str]:
    """Return name -> command that continues the training, for the unfinished tasks in a directory."""
    return {
        directory.name: command_to_continue(root, directory.name) for directory in visible_directories(root / BUILDING)
    }


def command_to_continue(root: Path, task: str) -> str:
    """Return the command that continues an unfinished task; an unknown recipe appears in it as the word RECIPE."""
    try:
        recipe = (
            read_regular(root / BUILDING / task / RECIPE_ARGUMENT, MOST_ARGUMENT_BYTES, links=False).decode().strip()
        )
    except (UserError, UnicodeError):
        recipe = ""
    return typed("pgdl", "task", "build", recipe if is_name(recipe) else "RECIPE", "--output", str(root))


def advice_on_damage(reference: Path | None) -> list[str]:
    """Return a line on how to mend a task that `pgdl task build` has made; [] for other tasks.

    `reference` is the file of the task's reference data.
    """
    if reference is None or not (reference.parent / RECIPE_DIGEST).exists():
        return []
    task, root = reference.parent.name, reference.parent.parent.parent
    remedy = f"remove damaged directories (models, dataset_1); {command_to_continue(root, task)} makes them anew"
    return [f"{task} was built from a recipe: {remedy}"]
