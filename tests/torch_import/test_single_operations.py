"""Tests of single operations: translated as PyTorch computes them, with the types of the graph, or refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import UserError
from harness.torch_import.keras_config import KerasModel
from harness.torch_import.pt2 import TYPES, ArgumentReference, Graph, GraphOperation
from harness.torch_import.translate import translate

X, CONSTANTS = ArgumentReference("x"), ArgumentReference("constants")

WEIGHT = np.array([[1.7, -1.7, 0.0], [2.0, 0.5, 3.0]], np.float32)


def translated(shape: tuple[int, ...], tensors: dict[str, Any], **operations: tuple[str, dict[str, Any]]) -> KerasModel:
    """Return a graph's model. `operations`: name of a result -> operation and arguments; the last is its output."""
    made = tuple(
        GraphOperation(f"aten.{target}", arguments, (name,), is_list=False, path="")
        for name, (target, arguments) in operations.items()
    )
    return translate(Graph(Path("network.pt2"), made, tensors, {}, "x", shape, list(operations)[-1])).model


def before_dense(target: str, arguments: dict[str, Any], shape: tuple[int, ...], n_results: int) -> KerasModel:
    """Return the model of an operation on the input `X`, followed by a dense layer for its `n_results` numbers."""
    flat, dense = {"self": ArgumentReference("made"), "start_dim": 1}, {"weight": ArgumentReference("weight")}
    return translated(
        shape,
        {"constants": np.array([1, 2, 3], np.float32), "weight": np.eye(2, n_results, dtype=np.float32)},
        made=(target, arguments),
        flat=("flatten.using_ints", flat),
        output=("linear.default", {"input": ArgumentReference("flat")} | dense),
    )


def kernel(target: str, **arguments: object) -> np.ndarray:
    """Return the kernel of a dense layer whose weight is the result of an operation on `WEIGHT`, in PyTorch's order."""
    dense = ("linear.default", {"input": X, "weight": ArgumentReference("made")})
    made = (target, {"self": ArgumentReference("weight")} | arguments)
    ((array,),) = translated((2, 3), {"weight": WEIGHT}, made=made, output=dense).weights.values()
    return array.T


@pytest.mark.parametrize(
    ("target", "operands", "factors", "added"),
    [
        ("add", (X, CONSTANTS), [], [2, 4, 6]),
        ("add", (CONSTANTS, X), [2], [1, 2, 3]),
        ("sub", (X, CONSTANTS), [], [-2, -4, -6]),
        ("sub", (CONSTANTS, X), [-2], [1, 2, 3]),
        ("rsub", (X, CONSTANTS), [-2], [1, 2, 3]),
    ],
)
def test_alpha_multiplies_the_second_operand(target: str, operands: Any, factors: Any, added: Any) -> None:
    arguments = dict(zip(("self", "other"), operands, strict=True)) | {"alpha": 2}
    model = before_dense(f"{target}.Tensor", arguments, (2, 3), 3)
    layers = model.architecture.canonical["layers"]
    assert [layer["config"]["scale"] for layer in layers if layer["class_name"] == "Rescaling"] == factors
    (offsets, *_), _ = filter(None, model.weights.values())
    assert offsets.tolist() == added


def test_pooling_around_places_beyond_the_end_is_refused() -> None:
    """In ceil mode, PyTorch pools a map of 8 places around the places 0, 3, 6 and 9, and the last does not exist."""
    arguments = {"self": X, "kernel_size": [5, 5], "stride": [3, 3], "padding": [2, 2], "ceil_mode": True}
    with pytest.raises(UserError, match=r"max_pool2d\.default pads in a way that Keras does not have"):
        before_dense("max_pool2d.default", arguments, (2, 3, 8, 8), 3 * 4 * 4)


#: Name of a type -> its number in the graph.
NUMBERS = {name: number for number, name in TYPES.items()}


def test_upsampling_by_fractions_is_refused_even_to_a_multiple_of_the_size() -> None:
    """PyTorch turns 3 places into 6 by the factor 2.3, but repeats the first place three times."""
    arguments = {"input": X, "output_size": None, "scale_factors": [2.3, 2.3]}
    with pytest.raises(UserError, match=r"upsample_nearest2d\.vec upsamples by \[2\.3, 2\.3\]"):
        before_dense("upsample_nearest2d.vec", arguments, (2, 3, 3, 3), 3 * 6 * 6)


@pytest.mark.parametrize("name", ["bool", "int64", "uint8"])
def test_computed_values_are_not_rounded(name: str) -> None:
    with pytest.raises(UserError, match=rf"_to_copy\.default converts a computed value to {name}"):
        before_dense("_to_copy.default", {"self": X, "dtype": NUMBERS[name]}, (2, 3), 3)


def test_constants_are_converted_and_created_with_the_types_of_the_graph() -> None:
    for name, expected in {
        "bool": [[1, 1, 0], [1, 1, 1]],
        "int64": [[1, -1, 0], [2, 0, 3]],
        "float32": WEIGHT,
        "float64": WEIGHT,
    }.items():
        assert kernel("_to_copy.default", dtype=NUMBERS[name]).tolist() == np.float32(expected).tolist()
    made = kernel("full_like.default", fill_value=2.9, dtype=NUMBERS["int32"])
    assert made.tolist() == np.full((2, 3), 2.0).tolist()
