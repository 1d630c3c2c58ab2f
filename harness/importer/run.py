"""Imports a task: writes and checks its files in a temporary directory, and moves them to their place when complete."""

import math
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.errors import UserError, writing
from harness.format.architecture import ModelShapes, write_config
from harness.format.files import located
from harness.format.layout import (
    CONFIG,
    INITIAL_WEIGHTS,
    INPUTS,
    REFERENCE,
    REFERENCES,
    TEST,
    TRAIN,
    WEIGHTS,
    model_name,
)
from harness.format.problems import InvalidTaskError, Problems
from harness.format.reference import reference_entry, write_reference
from harness.format.shards import write_shards
from harness.format.weights import write_weights
from harness.importer.completeness import notes_on_grid
from harness.importer.data import Examples, read_examples, with_channels_last, with_labels_of, write_arrays
from harness.importer.exported import translated_rows
from harness.importer.model import StoredModel
from harness.importer.stated import Stated
from harness.importer.table import TEST_ACCURACY, ImportedRow, Table, read_table
from harness.processes import NoAnswerError, Process, cannot_be_run
from harness.processes.runtimes import PREFERRED, installed_runtime
from harness.task.contents import Contents, count_test_samples, write_known
from harness.task.layout import TaskDirectory, require_no_flat_tasks, require_same_disk
from harness.task.model import read_model
from harness.task.shapes import infer_shapes
from harness.task.task import check_tasks
from harness.task.task_notes import outputs_of
from harness.task.workplace import workplace
from harness.torch_import.check import EXAMPLES, OutputComparison, can_run_torch

#: Approximate size of a shard in bytes, and minimum number of shards.
SHARD_BYTES, SHARDS = 2**26, 3

#: Names that a layer may have in an HDF5 file. HDF5 would take a name such as `a/b` as a path.
_PLAIN = re.compile(r"[A-Za-z0-9_>-][A-Za-z0-9_.>-]*")

#: Maximum length of a task's name. File systems allow 255 characters, and temporary names are longer.
MAX_NAME = 200

#: Smallest and largest allowed divisor of inputs, which become float32.
DIVISORS = 1e-30, 1e30

Say = Callable[[str], None]


@dataclass(frozen=True)
class ImportOrder:
    """The table and data to import, and the place and name of the new task."""

    table: Path
    data: str | Examples  #: training data (`read_examples`)
    test: str | Examples | None  #: test data; None without test data
    out: Path  #: directory of tasks in which the new task is created
    name: str
    divisor: float = 1.0  #: all inputs are divided by this number, from 1e-30 to 1e30

    @property
    def task(self) -> Path:
        """Directory of the task's models and data."""
        return self.out / INPUTS / self.name

    @property
    def reference(self) -> Path:
        """Directory of the task's reference data."""
        return self.out / REFERENCES / self.name


def import_task(order: ImportOrder, warn: Say, say: Say) -> None:
    """Import a task. `warn` is called with notes, and `say` with the progress.

    Raises `UserError` for an invalid file, and then leaves no file behind.
    """
    require_free(order)
    least, most = DIVISORS
    if not least <= order.divisor <= most:
        raise UserError("--divide-by", expected=f"a number from {least:g} to {most:g}", found=f"{order.divisor:g}")
    import_models(order, read_table(order.table), warn, say)


def import_models(order: ImportOrder, table: Table, warn: Say, say: Say) -> None:
    """Import a task as `import_task` does, with the models of `table` in place of `order.table`."""
    for row in table.rows:
        if row.test is None and order.test is None:
            remedy = "state it, or give test data"
            raise UserError(TEST_ACCURACY, file=row.where, expected="a value", found="none", remedy=remedy)
    for line in (*table.notes, *notes_on_grid(table.grid)):
        warn(f"Note: {line}")
    with (
        writing(order.out, problem="cannot be written or read"),
        workplace(order.out.absolute(), f".{order.name}.importing", "pgdl task import") as place,
    ):
        models = _read_models(translated_rows(table.rows, place))
        shapes = _shapes_of(models)
        made = ImportOrder(order.table, order.data, order.test, place, order.name)
        data = _write_data(order, made.task, place, models, shapes[0].output_shape[0])
        _write_models(models, shapes, made.task)
        metrics = list(_accuracies(models, shapes, made.task, place, data, warn, say))
        _write_reference(table, metrics, made.reference)
        (made.reference / "models.csv").write_bytes(table.text.encode())
        (checked,) = check_tasks(TaskDirectory(place).runnable())
        if isinstance(checked, InvalidTaskError):
            raise checked
        digests, n_test = {model.id: model.digest for model in checked.models}, count_test_samples(made.task / TEST)
        write_known(made.reference, Contents(digests, checked.data.digest, n_test=n_test))
        say(f"Outputs of the models are {outputs_of(checked)}")
        for source, target in ((made.reference, order.reference), (made.task, order.task)):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)


def require_free(order: ImportOrder) -> None:
    """Raise `UserError` if the task's name is not a plain name, or if a task of this name exists."""
    require_no_flat_tasks(order.out)
    require_same_disk(order.out, order.task.parent, order.reference.parent)
    if len(order.name) > MAX_NAME or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", order.name):
        expected = f"at most {MAX_NAME} letters, digits, ., _ and -, the first no . or -"
        raise UserError("name of the task", expected=expected, found=repr(order.name), remedy="give another by --name")
    for directory in (order.task, order.reference):
        if directory.exists():
            raise UserError("already exists", file=directory, remedy="choose another name or output, or remove it")


def _read_models(rows: Sequence[ImportedRow]) -> list[StoredModel]:
    problems = Problems()
    models = [problems.attempt(StoredModel, row) for row in rows]
    problems.raise_if_any()
    return [model for model in models if model is not None]


def _shapes_of(models: Sequence[StoredModel]) -> list[ModelShapes]:
    """Return the shapes of each model; raises `UserError` if their inputs or outputs differ in shape."""
    answers = infer_shapes(model.architecture for model in models)
    problems = Problems()
    shapes = []
    first = models[0]
    for model in models:
        file, answer = model.row.name, answers[model.architecture.digest]
        if isinstance(answer, str):
            problems.lines.append(str(UserError("refused by Keras", file=file, found=answer)))
            continue
        shapes.append(answer)
        if model.architecture.input_shape != first.architecture.input_shape:
            expected = f"{first.architecture.input_shape} as in {first.row.name}"
            problems.lines.append(
                str(UserError("input shape", file=file, expected=expected, found=model.architecture.input_shape))
            )
        if answer.output_shape != shapes[0].output_shape:
            expected = f"shape {shapes[0].output_shape} as of {first.row.name}"
            problems.lines.append(str(UserError("output", file=file, expected=expected, found=answer.output_shape)))
    problems.raise_if_any()
    if len(shapes[0].output_shape) != 1 or shapes[0].output_shape[0] < 2:
        expected, found = "one number for each of at least 2 classes", f"shape {shapes[0].output_shape}"
        raise UserError("output", file=first.row.name, expected=expected, found=found)
    return shapes


def _write_data(
    order: ImportOrder, task: Path, place: Path, models: Sequence[StoredModel], n_outputs: int
) -> dict[str, Path]:
    """Write the data as shards and arrays. Return part of the data -> directory of the part's arrays.

    The parts are `train` and, if there are test data, `test`.
    """
    arrays, shape = {}, models[0].architecture.input_shape
    classes: tuple[str, ...] = ()
    are_exported = all(model.row.exported for model in models)
    for part, target, source in (("train", TRAIN, order.data), ("test", TEST, order.test)):
        if source is None:
            continue
        arrays[part] = place / part
        examples = source if isinstance(source, Examples) else read_examples(source, part, shape)
        examples = with_labels_of(examples, classes)
        classes = examples.classes
        if are_exported:
            examples = with_channels_last(examples, shape)
        count = write_arrays(examples, arrays[part], shape, n_outputs, order.divisor)
        inputs, labels = (np.load(arrays[part] / name, mmap_mode="r") for name in ("inputs.npy", "labels.npy"))
        write_shards(task / target, inputs, labels, min(count, max(SHARDS, math.ceil(inputs.nbytes / SHARD_BYTES))))
    return arrays


def _write_models(models: Sequence[StoredModel], shapes: Sequence[ModelShapes], task: Path) -> None:
    problems = Problems()
    for number, (model, shape) in enumerate(zip(models, shapes, strict=True)):
        problems.attempt(write_model, model, shape, task / model_name(str(number)))
    problems.raise_if_any()


def write_model(model: StoredModel, shapes: ModelShapes, directory: Path) -> None:
    """Write config.json and weights of a model; raises `UserError` if its weights cannot be read."""
    order = [i for i in model.architecture.file_order if shapes.layers[i].weights]
    names = [model.architecture.names[i] for i in order]
    if len(set(names)) < len(names) or not all(name and _PLAIN.fullmatch(name) for name in names):
        names = [f"layer_{number}" for number in range(len(names))]
    directory.mkdir(parents=True)
    write_config(directory / CONFIG, model.config)
    for file, read in ((WEIGHTS, model.weights), (INITIAL_WEIGHTS, model.initial_weights)):
        if (found := read(shapes)) is not None:
            arrays = iter(found)
            weights = [
                [(name.replace("/", "_"), next(arrays)) for name, _ in layer.weights]  # names of sublayers have slashes
                for layer in shapes.layers
            ]
            write_weights(directory / file, [(str(name), weights[i]) for name, i in zip(names, order, strict=True)])


def _accuracies(
    models: Sequence[StoredModel], shapes: Sequence[ModelShapes], task: Path, place: Path, data: dict[str, Path],
    warn: Say, say: Say,
) -> Iterator[dict[str, float]]:  # fmt: skip
    """Yield `train_acc` and `test_acc` of each model: as the table states, otherwise as computed.

    Raises `UserError` if a stated and a computed accuracy do not agree (`Stated.agrees`), or if a translated model has
    other outputs than in PyTorch.
    """
    problems = Problems()
    parts = list(data)
    sizes = {part: len(np.load(data[part] / "labels.npy", mmap_mode="r")) for part in parts}
    inputs = np.array(np.load(data["train"] / "inputs.npy", mmap_mode="r")[:EXAMPLES])
    can_compare = can_run_torch()
    if not can_compare and any(model.row.exported and model.row.outputs is None for model in models):
        warn("Note: PyTorch is not installed: the outputs of .pt2 files were not compared with it")
    process = Process("harness.processes.accuracies", installed_runtime(PREFERRED))
    with process, OutputComparison(process) as comparison:
        for number, (model, shape) in enumerate(zip(models, shapes, strict=True)):
            directory = task / model_name(str(number))
            with tempfile.TemporaryDirectory(dir=place) as canonical, located(model.row.name):
                read_model(directory, model.architecture, shape).write_canonical(Path(canonical))
                if model.row.exported and (can_compare or model.row.outputs is not None):
                    comparison.require_same(model.row.exported, Path(canonical), inputs, model.row.outputs)
                try:
                    answer = process.ask({"model": canonical, "data": [str(part) for part in data.values()]})
                except NoAnswerError as error:
                    raise cannot_be_run(error) from error
            computed = dict(zip(parts, answer["accuracies"], strict=True))
            stated = {"train": model.row.train, "test": model.row.test}
            found = {
                f"{part}_acc": problems.attempt(_agreed, model.row, part, stated[part], computed.get(part), sizes)
                for part in ("train", "test")
            }
            metrics = {name: value for name, value in found.items() if value is not None}
            if len(metrics) == 2:
                train, test = metrics["train_acc"], metrics["test_acc"]
                figures = f"train {train:.4f}, test {test:.4f}, gap {train - test:.4f}"
                say(f"model_{number} ({model.row.name}): {figures}")
            yield metrics
    problems.raise_if_any()


def _agreed(row: ImportedRow, part: str, stated: Stated | None, computed: float | None, sizes: dict[str, int]) -> float:
    """Return the stated accuracy, or else the computed accuracy. Raise `UserError` if they do not agree (`agrees`)."""
    if stated is None:
        assert computed is not None
        return computed
    if computed is not None and not stated.agrees(computed, sizes[part]):
        found = f"{computed:.6g} on {sizes[part]} examples"
        remedy = "correct or leave out the number, or give the data as in training, such as pixels divided by 255"
        what, expected = f"{part}_accuracy of {row.name}", f"{stated.text} as stated"
        raise UserError(what, file=row.where, expected=expected, found=found, remedy=remedy)
    return stated.value


def _write_reference(table: Table, metrics: Sequence[dict[str, float]], directory: Path) -> None:
    grid = table.grid
    entries = {
        str(number): reference_entry(
            grid.values,
            {name: grid.values[name][code] for name, code in zip(grid.names, grid.codes[number].tolist(), strict=True)},
            found,
        )
        for number, found in enumerate(metrics)
    }
    write_reference(directory / REFERENCE, entries)
