"""Reads what there is of tasks whose models are still being trained, or of a build that was interrupted."""

from pathlib import Path

from harness.corpus.build import RECIPE, Build
from harness.corpus.recipe import read_recipe
from harness.corpus.trainer import DATA
from harness.errors import UserError
from harness.format.files import visible_directories
from harness.format.layout import BUILDING, TEST, model_name
from harness.format.reference import Reference
from harness.task.contents import count_test_samples
from harness.task.incomplete import command_to_continue
from scoring import Grid


def find_builds(out: Path) -> list[Build]:
    """Return the unfinished builds in `out`, in natural order; raises `UserError` for one without its recipe."""
    return [_read(directory, out) for directory in visible_directories(out / BUILDING)]


def reference_of(build: Build) -> Reference | None:
    """Return the reference data of the models that are finished; None before the first."""
    records = {model_name(str(number)): record for number, record in sorted(build.records().items())}
    if not records:
        return None
    hyperparameters = {model: record["hyperparameters"] for model, record in records.items()}
    train, test = (
        {model: record["metrics"][name] for model, record in records.items()} for name in ("train_acc", "test_acc")
    )
    return Reference(Grid.from_hyperparameters(build.recipe.grid, hyperparameters), train, test)


def count_tests(build: Build) -> int | None:
    """Return the number of test samples; None as long as they are not written."""
    return count_test_samples(build.building / DATA / TEST.name) or count_test_samples(build.building / TEST)


def _read(directory: Path, out: Path) -> Build:
    recipe = directory / RECIPE
    if not recipe.is_file():
        remedy = f"{command_to_continue(out, directory.name)} continues it, and writes the file"
        raise UserError("missing", file=recipe, expected="the recipe of an unfinished task", remedy=remedy)
    return Build(read_recipe(recipe), out)
