"""The program that computes a model's margins on shifted images, in a process of its own.

The margin of an image is the largest logit of a wrong class minus the logit of the label: positive for an error. A
question (a request to the program) is `{"model": DIRECTORY, "data": DIRECTORY, "radii": [...], "black": [...] or null,
"target": FILE}`. Each number in `radii` is a limit for shifts, in pixels; the test is made for each limit, and R is the
largest. `black` is the value of black in each channel; null means that shifted images wrap around. The program writes
three arrays to the file `target`:

* `near`: the margins of all images for shifts by at most R;
* `far_images`: the indices of the images for which such a shift causes an error;
* `far`: the margins of these images for shifts by at most 3 R; NaN where the test needs no margin.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.processes.models import Answer, Question, batch_size, faults_of_the_model, of_models
from harness.protocols.files import write_part
from harness.protocols.overfit.shifts import Images, Shifts
from harness.worker.runtimes import Runtime
from scoring import nearest_translation, needed_shifts, strongest_translation

CHUNK_NUMBERS = 2**24  #: maximum number of elements of shifted images in memory
TIED = np.finfo(np.float32).tiny  #: a positive margin, hence an error

Margins = NDArray[np.float32]
Predict = Callable[[Images], NDArray[Any]]
Needs = Callable[[Margins], NDArray[np.bool_]]


def answer(runtime: Runtime, question: Question) -> Answer:
    """Write the margins of a model to the file `target`."""
    directory = Path(question["model"])
    strip_softmax(directory)
    with faults_of_the_model():
        model = runtime.load_model(directory)
    inputs, labels = (np.load(Path(question["data"]) / name, mmap_mode="r") for name in ("inputs.npy", "labels.npy"))
    black = None if question["black"] is None else np.array(question["black"], np.float32)
    needs = needs_of(question["radii"])

    def predict(images: Images) -> NDArray[Any]:
        with faults_of_the_model():
            return np.asarray(model.predict_on_batch(images))

    part = shifted_margins(predict, inputs, labels, max(question["radii"]), black, needs)
    write_part(Path(question["target"]), **part)
    return {}


def needs_of(radii: Sequence[int]) -> Needs:
    """Return a function that takes margins (NaN: unknown), and returns a mask of the margins that the test needs."""
    generators = [make(radius) for make in (strongest_translation, nearest_translation) for radius in radii]
    return lambda grid: needed_shifts(grid, generators)


def shifted_margins(
    predict: Predict,
    inputs: Images,
    labels: NDArray[np.int32],
    radius: int,
    black: NDArray[np.float32] | None,
    needs: Needs,
) -> dict[str, NDArray[Any]]:
    """Return the arrays `near`, `far` and `far_images` (described in the module) for R = `radius`.

    `predict` returns the logits (size, n_classes) of images (size, height, width, channels). `inputs` are all images,
    and `labels` has the shape (n_images,). `black` is the value of black in each channel; None if shifted
    images wrap around. Raise `FloatingPointError` if an output is NaN or infinite.
    """
    height, width, channels = inputs.shape[1:]
    reach, size = 3 * radius, batch_size(inputs.shape[1:])
    at_once = max(1, CHUNK_NUMBERS // ((height + 2 * reach) * (width + 2 * reach) * channels))
    centre = slice(2 * radius, 4 * radius + 1)
    near, far, far_images = [], [], []
    for start in range(0, len(inputs), at_once):
        chunk = slice(start, start + at_once)
        shifts, own = Shifts(np.asarray(inputs[chunk]), reach, black), np.asarray(labels[chunk])
        grid = np.full((len(own), 2 * reach + 1, 2 * reach + 1), np.nan, np.float32)
        while (wanted := needs(grid) & np.isnan(grid)).any():
            for position, batch in shifts.batches(wanted, size):
                logits = predict(batch)[: len(position[0])]
                if not np.isfinite(logits).all():
                    raise FloatingPointError(f"its outputs are {'NaN' if np.isnan(logits).any() else 'infinite'}")
                grid[position] = margins_of(logits, own[position[0]])
        movable = (grid[:, centre, centre] > 0).any(axis=(1, 2))
        near.append(grid[:, centre, centre])
        far.append(grid[movable])
        far_images.append(start + np.flatnonzero(movable))
    return {"near": np.concatenate(near), "far": np.concatenate(far), "far_images": np.concatenate(far_images)}


def margins_of(logits: NDArray[Any], labels: NDArray[np.int32]) -> Margins:
    """Return for each image the largest logit of a wrong class minus the logit of the label, shape (n,).

    Of classes with equal logits, a model's answer is the first. If this answer is wrong, the margin is `TIED`.
    """
    others = logits.astype(np.float32)
    rows = np.arange(len(others))
    own = others[rows, labels]
    others[rows, labels] = -np.inf
    margins = others.max(axis=1) - own
    return np.where((margins == 0) & (others.argmax(axis=1) < labels), TIED, margins)


def strip_softmax(model: Path) -> None:
    """Remove a final softmax from the model in a directory: a softmax rounds large and small outputs to 1 and 0."""
    file = model / "architecture.json"
    file.write_bytes(json.dumps(without_softmax(json.loads(file.read_bytes()))).encode())


def without_softmax(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """Return an architecture (`harness.worker.architecture`) without its final softmax, with linear outputs instead."""
    position = architecture.get("softmax")
    if position is None:
        return {**architecture}
    last = architecture["layers"][position]
    if last["class_name"] == "Softmax":
        last = last | {"class_name": "Activation", "config": {"activation": "linear"}}
    else:
        last = last | {"config": last["config"] | {"activation": "linear"}}
    layers = [*architecture["layers"][:position], last, *architecture["layers"][position + 1 :]]
    return {name: value for name, value in architecture.items() if name != "softmax"} | {"layers": layers}


prepare = of_models(answer)
