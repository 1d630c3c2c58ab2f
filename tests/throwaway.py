"""Writes a tiny valid competition in milliseconds, without TensorFlow; tests run, score and break it.

    task = make_task(tmp_path)                                # tmp_path/tiny/{model_0..model_7,dataset_1,...}
    task = make_task(tmp_path, layout="full", gaps=[...])     # input_data/tiny and reference_data/tiny

It has up to eight dense networks from 4 inputs to 3 classes, one for each combination of three binary hyperparameters.
"""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from harness.format import weights as weight_files
from harness.format.architecture import layer_list
from harness.format.layout import CONFIG, INITIAL_WEIGHTS, INPUTS, REFERENCE, REFERENCES, TEST, TRAIN, WEIGHTS
from harness.format.reference import reference_entry
from harness.format.shards import example as example
from harness.format.shards import tensor as tensor
from harness.format.shards import write_records as write_records
from harness.format.shards import write_shards as write_shards

INPUT_SHAPE = (4,)
N_CLASSES = 3
HYPERPARAMETERS: dict[str, list[Any]] = {"activation": ["relu", "tanh"], "depth": [1, 2], "width": [4, 6]}
GAPS = (0.10, 0.20, 0.15, 0.30, 0.12, 0.22, 0.05, 0.40)

Layer = dict[str, Any]
Weights = list[list[np.ndarray]]  # per layer


def make_task(
    directory: Path,
    *,
    name: str = "tiny",
    layout: Literal["flat", "full"] = "flat",
    n_models: int = 8,
    gaps: Sequence[float] = GAPS,
    reference: bool = True,
    hidden: bool = False,
    initial_weights: bool = True,
    n_train: int = 24,
    n_test: int = 12,
    n_shards: int = 2,
    seed: int = 0,
) -> Path:
    """Write a task into `directory` and return the directory of its models.

    Args:
        n_models: fewer models for faster tests; a call on each takes a third of a second.
        gaps: generalization gap of model_0 to model_7, in [0, 1]; the train accuracy is always 1.
        initial_weights: whether to write weights_init.hdf5, which differs from weights.hdf5.
    """
    random = np.random.default_rng(seed)
    task = directory / name if layout == "flat" else directory / INPUTS / name
    cells = [dict(zip(HYPERPARAMETERS, values, strict=True)) for values in itertools.product(*HYPERPARAMETERS.values())]
    cells = cells[:n_models]
    for number, cell in enumerate(cells):
        write_model(task / f"model_{number}", dense_layers(**cell), random, initial_weights)
    for part, n_samples in ((TRAIN, n_train), (TEST, n_test)):
        inputs = random.normal(size=(n_samples, *INPUT_SHAPE)).astype(np.float32)
        labels = (np.arange(n_samples) % N_CLASSES).astype(np.int32)
        write_shards(task / part, inputs, labels, n_shards)
    holder = task if layout == "flat" else directory / REFERENCES / name
    if hidden:
        holder.mkdir(parents=True, exist_ok=True)
        (holder / "metadata").write_text("hidden: true\n")
    if reference:
        write_json(holder / REFERENCE, model_configs(cells, gaps[:n_models]))
    return task


def dense_layers(activation: str, depth: int, width: int) -> list[Layer]:
    """Return `depth` hidden layers and a layer of logits; units are floats, as in the competition's files."""
    hidden = {"layer_name": "Dense", "units": float(width), "activation": activation}
    return [dict(hidden) for _ in range(depth)] + [{"layer_name": "Dense", "units": float(N_CLASSES)}]


def model_configs(cells: Sequence[Mapping[str, Any]], gaps: Sequence[float] = GAPS) -> dict[str, Any]:
    """Return the content of model_configs.json; its keys are `0`, `1`, ..., without `model_`."""
    return {
        str(number): reference_entry(HYPERPARAMETERS, cell, {"train_acc": 1.0, "test_acc": 1.0 - gap})
        for number, (cell, gap) in enumerate(zip(cells, gaps, strict=True))
    }


def write_model(
    directory: Path, layers: Sequence[Layer], random: np.random.Generator, initial_weights: bool = True
) -> None:
    write_json(directory / CONFIG, layer_list(layers, INPUT_SHAPE))
    write_weights(directory / WEIGHTS, dense_weights(layers, random))
    if initial_weights:
        write_weights(directory / INITIAL_WEIGHTS, dense_weights(layers, random))


def dense_weights(layers: Sequence[Layer], random: np.random.Generator, n_inputs: int = INPUT_SHAPE[0]) -> Weights:
    sizes = [n_inputs, *(int(layer["units"]) for layer in layers)]
    return [
        [random.normal(size=shape).astype(np.float32) for shape in ((n_in, n_out), (n_out,))]
        for n_in, n_out in itertools.pairwise(sizes)
    ]


def write_weights(path: Path, weights: Weights, names: Sequence[str] = ()) -> None:
    """Write an HDF5 file in the layout of Keras 2; `names` of layers default to dense, dense_1, ..."""
    names = names or [f"dense_{i}" if i else "dense" for i in range(len(weights))]
    named = [[(f"weight_{i}", array) for i, array in enumerate(arrays)] for arrays in weights]
    weight_files.write_weights(path, list(zip(names, named, strict=True)))


def write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def edit_json(path: Path, change: Callable[[Any], Any]) -> None:
    content = json.loads(path.read_text())
    change(content)
    write_json(path, content)


def write_submission(directory: Path, name: str, body: str = "return 1.0") -> Path:
    """Write NAME.py, whose function `complexity` has this body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    path = directory / f"{name}.py"
    path.write_text(f"def complexity(model, dataset):\n{lines}\n")
    return path
