"""The unfinished builds in a directory, as `pgdl task show` describes them."""

from pathlib import Path

from harness.corpus.build import RECIPE, Build
from harness.corpus.parts import DATA
from harness.corpus.recipe import read_recipe
from harness.errors import UserError, UserErrors
from harness.format.files import visible_directories
from harness.format.layout import BUILDING, TEST, model_name
from harness.format.reference import Reference
from harness.task.contents import count_test_samples
from harness.task.incomplete import command_to_continue
from scoring import Grid


def find_builds(out: Path) -> list[Build]:
    """Return the unfinished builds in `out`, task2 before task10. Raise `UserError` if a build has no recipe."""
    builds = []
    for directory in visible_directories(out / BUILDING):
        recipe = directory / RECIPE
        if not recipe.is_file():
            remedy = f"{command_to_continue(out, directory.name)} continues it, and writes the file"
            raise UserError("missing", file=recipe, expected="the recipe of an unfinished task", remedy=remedy)
        builds.append(Build(read_recipe(recipe), out))
    return builds


def reference_of(build: Build) -> Reference | None:
    """Return the reference data of the finished models; None if no model is finished."""
    records = {model_name(str(number)): record for number, record in sorted(build.records().items())}
    if not records:
        return None
    hyperparameters = {model: record["hyperparameters"] for model, record in records.items()}
    train, test = (
        {model: record["metrics"][name] for model, record in records.items()} for name in ("train_acc", "test_acc")
    )
    return Reference(Grid.from_hyperparameters(build.recipe.grid, hyperparameters), train, test)


def count_tests(build: Build) -> int | None:
    """Return the number of test examples of an unfinished task; None if the test data are not written yet.

    Raise `UserError` if they are damaged.
    """
    try:
        return count_test_samples(build.building / DATA / TEST.name) or count_test_samples(build.building / TEST)
    except UserError as error:
        command = command_to_continue(build.building.parent.parent, build.recipe.name)
        raise UserErrors(error, f"{build.recipe.name} is not finished: {command} makes damaged data anew") from error
