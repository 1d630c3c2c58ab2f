"""Reads weights from `.npz` files: `numpy.savez(path, *model.get_weights())`."""

from pathlib import Path

from harness.errors import UserError
from harness.format.architecture import Architecture, ModelShapes
from harness.format.arrays import open_npz
from harness.format.weights import Array, finite


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
        read = {place: finite(name, arrays[name].read()) for name, place in zip(wanted, places, strict=True)}
    return [read[place] for place in sorted(read)]
