"""The program that trains models. Its arguments are the file of a recipe, its digest, and the directory of the build.

- On `{"job": "look"}`, it refuses images that are too small for a network of the recipe. The answer
  `{"notes": [...]}` has notes on the data.
- On `{"job": "data"}`, it writes the data. The answer is empty.
- On `{"job": NUMBER}`, it trains the model of a cell, and sends an event for each evaluation on the whole training
  set. The answer is the record of the training, or `{"failed": MESSAGE}`.

Files and directories get their final names only when they are complete.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from harness.corpus.datasets import load_data, with_label_noise
from harness.corpus.families import FAMILIES, Layer
from harness.corpus.network import named_weights, saved_config, training_network
from harness.corpus.parts import CELLS, DATA, UNFINISHED, find_part, part_digest, write_record
from harness.corpus.recipe import Recipe, read_recipe
from harness.corpus.training import DivergedError, accuracy, train
from harness.errors import UserError
from harness.format.architecture import read_architecture, write_config
from harness.format.layout import CONFIG, INITIAL_WEIGHTS, TEST, TRAIN, WEIGHTS, find_shards
from harness.format.shards import read_samples, write_shards
from harness.format.weights import write_weights
from harness.processes import KERAS_DEFAULTS, describe
from harness.processes.models import Answer, Program, Question, Say
from harness.task.digests import Digests
from harness.task.model import read_model
from harness.task.shapes import parse_shapes
from harness.worker.runtimes import RUNTIMES
from scoring.streams import stream_seed

#: Number of shards for training data and for test data.
N_SHARDS = 3

#: Mean difference of the pixels up to which two images count as one: libraries and processors round differently.
ROUNDING = 0.01


def prepare(_runtime: str, file: str, digest: str, directory: str) -> Program:
    """Load the data of a recipe, and return the function that answers questions.

    Raise `UserError` if the recipe in `file` does not have this digest: it was changed after the build began.
    """
    recipe = read_recipe(Path(file))
    if recipe.digest != digest:
        remedy = "undo the change to continue, or build the new recipe under another name or --output"
        raise UserError("changed during the build", file=file, remedy=remedy)
    return Trainer(recipe, Path(directory)).work


class Trainer:
    """Answers the questions that the program receives; the constructor loads the data of the recipe."""

    def __init__(self, recipe: Recipe, directory: Path) -> None:
        for name, value in KERAS_DEFAULTS.items():  # not the user's own settings, which Keras has read
            getattr(tf.keras.backend, f"set_{name}")(value)
        self.recipe, self.directory = recipe, directory
        self._threads = int(os.environ["TF_NUM_INTRAOP_THREADS"])
        tf.config.threading.set_intra_op_parallelism_threads(self._threads)
        tf.config.threading.set_inter_op_parallelism_threads(self._threads)
        for device in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(device, True)
        self.data = load_data(recipe.data, recipe.file.parent)
        require_same_data(directory, self._parts())

    def work(self, question: Question, say: Say) -> Answer:
        """Do what a question requests, and return the answer (see the module)."""
        if question["job"] == "look":
            require_large_images(self.recipe, *self.data.train_inputs.shape[1:3])
            return {"notes": list(self.data.notes)}
        if question["job"] == "data":
            self.write_data()
            return {}
        try:
            return self.train(question["job"], say)
        except DivergedError as error:
            return {"failed": str(error)}
        except (MemoryError, tf.errors.ResourceExhaustedError):
            return {"failed": "memory was short"}

    def write_data(self) -> None:
        """Write training and test data."""
        unfinished = _emptied(self.directory / f"{DATA}{UNFINISHED}")
        for part, (inputs, labels) in self._parts().items():
            write_shards(unfinished / part, inputs, labels, N_SHARDS)
        write_record(self.directory, DATA, {"digest": part_digest(unfinished, Digests(unfinished))})
        unfinished.rename(self.directory / DATA)

    def train(self, number: int, say: Say) -> dict[str, Any]:
        """Train the model of cell `number` with its own seed, write the model and its record, and return the record."""
        cell, data = self.recipe.cells[number], self.data
        settings = cell.training
        tf.keras.utils.set_random_seed(stream_seed("training", settings.seed, number))
        tf.keras.mixed_precision.set_global_policy("float32")
        layers = FAMILIES[self.recipe.family](data.n_classes, **cell.architecture, dropout=settings.dropout)
        shape = data.train_inputs.shape[1:]
        unfinished = _emptied(self.directory / f"{CELLS.format(number)}{UNFINISHED}")
        write_config(unfinished / CONFIG, saved_config(layers, shape))
        if settings.mixed_precision:
            tf.keras.mixed_precision.set_global_policy("mixed_float16")
        model = training_network(layers, shape, settings.weight_decay, settings.initializer)
        write_weights(unfinished / INITIAL_WEIGHTS, named_weights(model))
        labels = self._labels(settings.label_noise)
        trained = train(
            model, data.train_inputs, labels, settings, self.recipe.data.perturbation_range,
            lambda progress: say(asdict(progress)),
        )  # fmt: skip
        write_weights(unfinished / WEIGHTS, named_weights(model))
        record = {
            "cell": number,
            "hyperparameters": cell.hyperparameters,
            "metrics": self._accuracies(unfinished, labels),
            "digest": part_digest(unfinished, Digests(unfinished)),
        } | trained
        write_record(self.directory, str(number), record)
        unfinished.rename(self.directory / CELLS.format(number))
        return record

    def _parts(self) -> dict[str, tuple[Any, Any]]:
        """Return a dictionary: name of a part of the data -> its inputs and labels.

        Training labels have the recipe's noise, unless noise is an axis of the grid.
        """
        noise = 0.0 if "label_noise" in self.recipe.grid else self.recipe.cells[0].training.label_noise
        return {
            TRAIN.name: (self.data.train_inputs, self._labels(noise)),
            TEST.name: (self.data.test_inputs, self.data.test_labels),
        }

    def _labels(self, noise: float) -> Any:
        return with_label_noise(self.data.train_labels, self.data.n_classes, noise, self.recipe.data.seed)

    def _accuracies(self, directory: Path, labels: Any) -> dict[str, float]:
        """Return training and test accuracy of a saved model, which is loaded exactly as for a measure."""
        runtime = RUNTIMES["tensorflow"]
        tf.keras.mixed_precision.set_global_policy("float32")
        tf.keras.backend.clear_session()
        architecture = read_architecture(directory)
        saved = read_model(directory, architecture, parse_shapes(describe(runtime, architecture.canonical)))
        with tempfile.TemporaryDirectory() as canonical:
            saved.write_canonical(Path(canonical))
            model = runtime.load_model(Path(canonical))
        return {
            "train_acc": accuracy(model, self.data.train_inputs, labels),
            "test_acc": accuracy(model, self.data.test_inputs, self.data.test_labels),
        }


def require_same_data(directory: Path, parts: Mapping[str, tuple[Any, Any]]) -> None:
    """Raise `UserError` if the unfinished task in `directory` has other data than `parts` (part -> inputs and labels).

    For instance, the user's own file was changed after an interruption. Rounding makes no difference.
    """
    if (written := find_part(directory, DATA)) is None:
        return
    for part, (inputs, labels) in parts.items():
        stored = (sample for shard in find_shards(written / part) for sample in read_samples(shard))
        if not all(_are_alike(*both) for both in zip_longest(stored, zip(inputs, labels, strict=True))):
            remedy = "restore the data to continue, or build with --no-resume"
            raise UserError(f"other {part} data than the recipe has now", file=written, remedy=remedy)


def _are_alike(one: tuple[Any, Any] | None, other: tuple[Any, Any] | None) -> bool:
    if one is None or other is None or one[1] != other[1] or one[0].shape != other[0].shape:
        return False
    return bool(np.abs(one[0] - other[0]).mean() <= ROUNDING)


def _emptied(directory: Path) -> Path:
    """Create an empty directory, in place of any directory that an earlier process has left, and return its path."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def require_large_images(recipe: Recipe, height: int, width: int) -> None:
    """Raise `UserError` if images of `height` x `width` pixels are too small for a network of the recipe."""
    needed = [(smallest_side(FAMILIES[recipe.family](2, **cell.architecture)), cell) for cell in recipe.cells]
    too_small = [(side, cell) for side, cell in needed if side > min(height, width)]
    if too_small:
        side, cell = max(too_small, key=lambda one: one[0])
        settings = ", ".join(f"{name} {value}" for name, value in cell.architecture.items())
        example = f"{recipe.family} ({settings or 'defaults'})"
        raise UserError(
            f"images are too small for {len(too_small)} of {len(needed)} models, such as {example}",
            file=recipe.file,
            expected=f"at least {side} x {side} pixels",
            found=f"{height} x {width}",
            remedy="change the architecture or its grid, or data.resize",
        )


def smallest_side(layers: Sequence[Layer]) -> int:
    """Return the smallest side of square images, in pixels, with which every layer has an output."""
    sides = [1] * (len(layers) + 1)  # for the input of the network, and the output of each layer
    for position in reversed(range(len(layers))):
        side = _side_before(layers[position], sides[position + 1])
        for other in layers[position].get("inputs", [position - 1]):
            sides[other + 1] = max(sides[other + 1], side)
    return sides[0]


def _side_before(layer: Layer, side: int) -> int:
    """Return the smallest side of a square input for which the side of a layer's output is at least `side`."""
    if layer["layer_name"] in ("Flatten", "GlobalAveragePooling2D"):
        return 1
    pool: list[int] = layer.get("pool_size", [1])
    (size, *_), (stride, *_) = layer.get("kernel_size", pool), layer.get("strides", pool)
    return (side - 1) * int(stride) + (1 if layer.get("padding") == "same" else int(size))
