"""A sum has the same factor `alpha` in Keras, whether its first or its second operand is a constant."""

from pathlib import Path

import numpy as np
import pytest

from harness.torch_import.pt2 import ArgumentReference, Graph, GraphOperation
from harness.torch_import.translate import translate

CONSTANTS, WEIGHT = np.array([1, 2, 3], np.float32), np.eye(3, dtype=np.float32)


@pytest.mark.parametrize(
    ("operands", "layers", "added"),
    [
        (("x", "constants"), "BatchNormalization Dense", [2, 4, 6]),
        (("constants", "x"), "Rescaling BatchNormalization Dense", [1, 2, 3]),
    ],
)
def test_alpha_multiplies_the_second_operand(operands: tuple[str, str], layers: str, added: list[float]) -> None:
    x, other = map(ArgumentReference, operands)
    added_up = {"self": x, "other": other, "alpha": 2}
    dense = {"input": ArgumentReference("sum"), "weight": ArgumentReference("weight")}
    operations = (
        GraphOperation("aten.add.Tensor", added_up, ("sum",), is_list=False, path=""),
        GraphOperation("aten.linear.default", dense, ("output",), is_list=False, path=""),
    )
    tensors = {"constants": CONSTANTS, "weight": WEIGHT}
    model = translate(Graph(Path("network.pt2"), operations, tensors, {}, "x", (2, 3), "output")).model
    translated = model.architecture.canonical["layers"]
    assert " ".join(layer["class_name"] for layer in translated) == layers
    assert all(layer["config"]["scale"] == 2 for layer in translated if layer["class_name"] == "Rescaling")
    (offsets, *_), _ = (arrays for arrays in model.weights.values() if arrays)
    assert offsets.tolist() == added
