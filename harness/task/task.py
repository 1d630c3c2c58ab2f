"""A valid task, and the checks that make sure that it is valid."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.cores import available_cores
from harness.errors import UserError
from harness.format.architecture import Architecture, ModelShapes, read_architecture
from harness.format.layout import CONFIG, find_shards
from harness.format.problems import InvalidTaskError, Problems
from harness.format.reference import Reference, read_reference
from harness.task.contents import Contents, changed_since_fetched, unlike_known
from harness.task.data import TrainingData, check_labels, check_test_data, read_training_data
from harness.task.digests import Digests
from harness.task.hidden import Withhold
from harness.task.layout import TaskFiles, advice_on_damage, require_recordable
from harness.task.model import Model, read_model
from harness.task.shapes import infer_shapes


@dataclass(frozen=True)
class Task:
    """A task all of whose files were checked: they exist, are intact, and fit each other."""

    name: str  #: the task's name
    models: tuple[Model, ...]  #: the trained models in natural order, all with the same shapes of input and output
    data: TrainingData  #: the training data
    reference: Reference | None  #: hyperparameters and accuracies of exactly these models; None if unknown
    hidden: bool = False  #: whether participants may see only outcomes and rounded scores


def read_tasks(files: Sequence[TaskFiles], withhold: Withhold = Withhold.AUTO) -> list[Task]:
    """Read, check and return tasks.

    Raises `InvalidTaskError` with all problems; for withheld tasks, only with the number of problems.
    """
    problems, tasks = Problems(), []
    for one, outcome in zip(files, check_tasks(files), strict=True):
        if isinstance(outcome, InvalidTaskError):
            problems.lines += [*withhold.problems(one, outcome.problems), *advice_on_damage(one.reference)]
        else:
            tasks.append(outcome)
    problems.raise_if_any()
    return tasks


def read_task(files: TaskFiles) -> Task:
    """Read and check a task; raises `InvalidTaskError` with all problems."""
    return read_tasks([files])[0]


def check_tasks(files: Sequence[TaskFiles]) -> list[Task | InvalidTaskError]:
    """Read and check tasks; return for each of them a `Task`, or an error with the task's problems.

    The error has every problem of model_configs.json, and the first problem of every other file. A single process
    infers the shapes for all tasks.
    """
    readings = [_Reading(task) for task in files]
    shapes = infer_shapes(a for reading in readings for a in reading.architectures.values() if a is not None)
    return [reading.finish(shapes) for reading in readings]


class _Reading:
    """Reads the architectures of a task, and in a second step, after Keras has inferred the shapes, all other files."""

    def __init__(self, files: TaskFiles) -> None:
        self._files = files
        self._problems = Problems()
        attempt = self._problems.attempt
        self.architectures = {path: attempt(read_architecture, path) for path in files.models}
        names = {files.name: files.directory} | {path.name: path for path in files.models}
        for name, path in names.items():
            attempt(require_recordable, name, path)
        if not files.models:
            self._report(UserError("no models", file=files.directory, expected="directories model_*", found="none"))

    def finish(self, shapes: Mapping[str, ModelShapes | str]) -> Task | InvalidTaskError:
        """Return the task, or an error with its problems. `shapes` is the result of `infer_shapes`."""
        attempt = self._problems.attempt
        with Digests(self._files.directory) as digests, ThreadPoolExecutor(available_cores()) as threads:
            reading = [
                threads.submit(self._model, path, architecture, shapes[architecture.digest], digests)
                for path, architecture in self.architectures.items()
                if architecture is not None
            ]
            found = [attempt(one.result) for one in reading]
        models = tuple(model for model in found if model is not None)
        data = attempt(read_training_data, self._files.train)
        if models and data is not None:
            self._check_fit(models, data)
        reference = attempt(read_reference, self._files.reference) if self._files.reference else None
        if reference is not None:
            self._check_ids(reference)
        if self._files.reference is not None:
            contents = Contents({one.id: one.digest for one in models}, None if data is None else data.digest)
            self._problems.lines += attempt(unlike_known, self._files.reference.parent, self._files, contents) or []
        self._problems.lines += changed_since_fetched(self._files)
        hidden = attempt(lambda: self._files.hidden)
        if self._problems.lines or data is None or hidden is None:
            return InvalidTaskError(self._problems.lines)
        return Task(self._files.name, models, data, reference, hidden)

    def _report(self, error: UserError) -> None:
        self._problems.lines.append(str(error))

    def _model(self, path: Path, architecture: Architecture, shapes: ModelShapes | str, digests: Digests) -> Model:
        if isinstance(shapes, str):
            raise UserError("refused by Keras", file=path / CONFIG, found=shapes)
        return read_model(path, architecture, shapes, digests)

    def _check_fit(self, models: Sequence[Model], data: TrainingData) -> None:
        first = models[0]
        for model in models:
            file = model.directory / CONFIG
            if model.input_shape != data.input_shape:
                expected = f"{data.input_shape} as in {data.source}"
                self._report(UserError("input_shape", file=file, expected=expected, found=model.input_shape))
            if model.n_outputs != first.n_outputs:
                expected = f"{first.n_outputs} as of {first.id}"
                self._report(UserError("number of outputs", file=file, expected=expected, found=model.n_outputs))
        self._problems.attempt(check_labels, find_shards(data.source), data.labels, first.n_outputs)
        if self._files.test.exists():
            self._problems.attempt(check_test_data, self._files.test, data.input_shape, first.n_outputs)

    def _check_ids(self, reference: Reference) -> None:
        present = {path.name for path in self.architectures}
        for model in sorted(present ^ set(reference.models), key=lambda model: (model not in present, model)):
            missing = "an entry for" if model in present else "a directory"
            expected = f"{missing} {self._files.directory / model}"
            self._report(UserError(model, file=self._files.reference, expected=expected, found="none"))
