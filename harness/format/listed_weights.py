"""Reads weights from `.npz` files: `numpy.savez(path, *model.get_weights())`."""

from pathlib import Path

import numpy as np

from harness.errors import UserError
from harness.format.architecture import Architecture, ModelShapes
from harness.format.arrays import open_npz
from harness.format.weights import Array


def read_listed_weights(path: Path, architecture: Architecture, shapes: ModelShapes) -> list[Array]:
    """Return the weights in the order of `get_weights()`, of the model that the architecture was read from.

    Raises:
        UserError: the file is damaged or of another model, or a number is not finite.
    """
    places = [(i, k) for i in architecture.file_order for k in range(len(shapes.layers[i].weights))]
    with open_npz(path) as arrays:
        wanted = [f"arr_{number}" for number in range(len(places))]
        if set(arrays) != set(wanted):
            found = f"{len(arrays)} arrays: {', '.join(list(arrays)[:5])}"
            remedy = "write them with numpy.savez(path, *model.get_weights())"
            raise UserError("weights", expected=f"{len(wanted)} arrays, arr_0, arr_1, ...", found=found, remedy=remedy)
        for name, (i, k) in zip(wanted, places, strict=True):
            weight, shape = shapes.layers[i].weights[k]
            if arrays[name].shape != shape or arrays[name].dtype.kind != "f":
                where = f"{name}, {weight} of layer {i} ({shapes.layers[i].class_name})"
                found = f"{arrays[name].dtype}, shape {arrays[name].shape}"
                raise UserError(where, expected=f"floating-point numbers of shape {shape}", found=found)
        read = {place: _finite(name, arrays[name].read()) for name, place in zip(wanted, places, strict=True)}
    return [read[place] for place in sorted(read)]


def _finite(name: str, array: np.ndarray) -> Array:
    with np.errstate(over="ignore"):
        converted = np.asarray(array, np.float32)
    bad = int(np.size(converted) - np.count_nonzero(np.isfinite(converted)))
    if bad:
        raise UserError(name, expected="finite numbers", found=f"{bad} of {converted.size} NaN or infinite")
    return converted
