"""Tests of types in an exported graph: their meaning is the same for conversions, new arrays and stored constants."""

from pathlib import Path

import numpy as np
import pytest

from harness.torch_import.pt2 import TYPES, ArgumentReference, Graph, GraphOperation
from harness.torch_import.translate import translate

WEIGHT = np.array([[1.7, -1.7, 0.0], [2.0, 0.5, 3.0]], np.float32)


def kernel(target: str, **arguments: object) -> np.ndarray:
    """Return the kernel of a dense layer whose weight is the result of an operation on `WEIGHT`, in PyTorch's order."""
    operations = (
        GraphOperation(target, arguments, ("made",), is_list=False, path=""),
        GraphOperation(
            "aten.linear.default",
            {"input": ArgumentReference("x"), "weight": ArgumentReference("made")},
            ("output",),
            is_list=False,
            path="",
        ),
    )
    graph = Graph(Path("network.pt2"), operations, {"weight": WEIGHT}, {}, "x", (2, 3), "output")
    ((array,),) = translate(graph).model.weights.values()
    return array.T


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bool", [[1, 1, 0], [1, 1, 1]]),
        ("int64", [[1, -1, 0], [2, 0, 3]]),
        ("float32", WEIGHT),
        ("float64", WEIGHT),
    ],
)
def test_constants_are_converted_as_in_pytorch(name: str, expected: list[list[float]]) -> None:
    (number,) = [number for number, known in TYPES.items() if known == name]
    source = ArgumentReference("weight")
    assert kernel("aten._to_copy.default", self=source, dtype=number).tolist() == np.float32(expected).tolist()


def test_constants_are_created_with_the_type_of_the_graph() -> None:
    (number,) = [number for number, known in TYPES.items() if known == "int32"]
    made = kernel("aten.full_like.default", self=ArgumentReference("weight"), fill_value=2.9, dtype=number)
    assert made.tolist() == np.full((2, 3), 2.0).tolist()
