"""The functions `pgdl.recipes` and `build_task`: build tasks from recipes."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cores import available_cores
from harness.corpus import catalogue as packaged
from harness.corpus.build import Build, Event
from harness.corpus.recipe import Recipe, read_recipe
from harness.errors import UserError
from harness.gpus import find_gpus
from harness.summarized import Summarized
from scoring import MINIMUM_HYPERPARAMETERS

#: A function: recipe, number of models to train -> context that shows the training. The context yields a function to
#: call with each event.
ShowTraining = Callable[[Recipe, int], AbstractContextManager[Callable[[Event], None]]]


@dataclass(frozen=True, repr=False)
class BuildResult(Summarized):
    """The state of a task after a build. A model is identified by its number in the task."""

    build: Build  #: the recipe and the files of the build
    records: dict[int, dict[str, Any]]  #: finished model -> record with `metrics`, `epochs`, `reached` and more
    failed: Sequence[int] = ()  #: models that could not be trained
    trained: int = 0  #: number of models that this build has trained
    seconds: float = 0.0  #: duration of this build; 0 if the task was finished already

    @property
    def unreached(self) -> list[int]:
        """The finished models that did not reach the recipe's criterion for the end of training (`training.stop`)."""
        return [number for number, record in sorted(self.records.items()) if not record["reached"]]

    @property
    def refused(self) -> list[int]:
        """The models in `unreached` that the recipe treats as errors; because of them, the task is not finished."""
        return [one for one in self.unreached if self.build.recipe.cells[one].training.unreached == "error"]

    @property
    def gaps(self) -> list[float]:
        """The generalization gaps of the finished models."""
        return [one["metrics"]["train_acc"] - one["metrics"]["test_acc"] for one in self.records.values()]

    @property
    def summary(self) -> list[str]:
        """The numbers of finished and of failed models."""
        recipe = self.build.recipe
        return [f"{recipe.name}: {len(self.records)} of {len(recipe.cells)} models trained, {len(self.failed)} failed"]

    @property
    def content(self) -> dict[str, Any]:
        """The state of the build as a JSON object."""
        models = [
            {"model": number} | {name: record[name] for name in ("reached", "metrics", "epochs")}
            for number, record in sorted(self.records.items())
        ]
        build, expected = self.build, len(self.build.recipe.cells)
        state = {"task": build.recipe.name, "finished": build.is_finished, "directory": build.task}
        return state | {"models": models, "expected_models": expected, "failed": self.failed}


def recipes() -> dict[str, Recipe]:
    """Return the recipes in the package: name -> recipe."""
    return {name: read_recipe(file) for name, file in packaged.recipes().items()}


def build_task(
    recipe: str | Path,
    output: str | Path,
    *,
    workers: int | None = None,
    limit: int | None = None,
    resume: bool = True,
    tell: Callable[[str], None] = lambda _line: None,
    show: ShowTraining = lambda _recipe, _number: nullcontext(lambda _event: None),
) -> BuildResult:
    """Train every model of a recipe's grid, and write a task in the competition's layout.

    Finished models are kept however the build ends; a second build trains the remaining models.

    Args:
        recipe: a file, or the name of a recipe in the package.
        output: directory of tasks.
        workers: number of models trained at once; None: a model per GPU, otherwise as many as the cores allow.
        limit: train only this number of models, the first of the grid.
        resume: whether to reuse finished models of an unfinished task.
        tell: is called with each note.
        show: returns a context that shows the training (`ShowTraining`).

    Raises:
        UserError: there is no such recipe, it is invalid, another process builds the task, or the finished task has
            damaged models or, for `resume=False`, must be removed first.
    """
    for name, number in (("workers", workers), ("limit", limit)):
        if number is not None and number < 1:
            raise UserError(name, expected="1 or more, or None", found=number)
    build = Build(read_recipe(packaged.find_recipe(str(recipe))), Path(output))
    if not (resume and build.is_finished):
        with build.locked():
            if not (resume and build.is_finished):  # another command may have finished it meanwhile
                return _build(build, workers, limit, tell, show, resume=resume)
    build.hide()  # the recipe may have been marked as hidden after the build
    build.require_intact()
    tell(f"{build.task} is finished already")
    return BuildResult(build, build.records())


def _build(
    build: Build,
    workers: int | None,
    limit: int | None,
    tell: Callable[[str], None],
    show: ShowTraining,
    *,
    resume: bool,
) -> BuildResult:
    if not resume:
        build.forget()
    cells, number = build.recipe.cells, len(build.recipe.grid)
    if number < MINIMUM_HYPERPARAMETERS:
        tell(f"Note: the official score needs {MINIMUM_HYPERPARAMETERS} hyperparameters, this grid has {number}.")
    build.begin()
    for name in build.remove_damaged():
        tell(f"{name}: damaged or incomplete; to be made anew")
    finished = build.records()
    missing = [cell.number for cell in cells[:limit] if cell.number not in finished]
    if finished:
        tell(f"{len(finished)} of {len(cells)} models are finished already")
    at_once = workers or len(find_gpus()) or max(available_cores() // build.recipe.threads, 1)
    started = time.monotonic()
    is_complete = build.has_data and not missing
    failed = [] if is_complete else _train(build, missing, max(min(at_once, len(missing)), 1), tell, show)
    seconds = time.monotonic() - started
    result = BuildResult(build, build.records(), failed, len(missing) - len(failed), seconds)
    if not failed and not result.refused and len(result.records) == len(cells):
        build.finish()
    return result


def _train(
    build: Build, missing: Sequence[int], workers: int, tell: Callable[[str], None], show: ShowTraining
) -> list[int]:
    failed = []
    try:
        with show(build.recipe, len(missing)) as seen, closing(build.train(list(missing), workers)) as events:
            for event in events:
                seen(event)
                if event.kind == "failed":
                    failed.append(event.cell)
    except KeyboardInterrupt:
        finished = f"{len(build.records())} of {len(build.recipe.cells)} models are finished"
        tell(f"{finished}; the same command resumes the build.")
        raise
    return failed
