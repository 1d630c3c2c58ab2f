"""Tests of operations with unusual arguments: translated as PyTorch computes them, or refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import UserError
from harness.torch_import.keras_config import KerasModel
from harness.torch_import.pt2 import ArgumentReference, Graph, GraphOperation
from harness.torch_import.translate import translate

X, CONSTANTS = ArgumentReference("x"), ArgumentReference("constants")


def translated(target: str, arguments: dict[str, Any], shape: tuple[int, ...], n_results: int) -> KerasModel:
    """Return the model of an operation on the input `X`, followed by a dense layer for its `n_results` numbers."""
    operations = (
        GraphOperation(target, arguments, ("made",), is_list=False, path=""),
        GraphOperation(
            "aten.flatten.using_ints", {"self": ArgumentReference("made"), "start_dim": 1}, ("flat",), False, ""
        ),
        GraphOperation(
            "aten.linear.default",
            {"input": ArgumentReference("flat"), "weight": ArgumentReference("weight")},
            ("output",),
            is_list=False,
            path="",
        ),
    )
    tensors = {"constants": np.array([1, 2, 3], np.float32), "weight": np.eye(2, n_results, dtype=np.float32)}
    return translate(Graph(Path("network.pt2"), operations, tensors, {}, "x", shape, "output")).model


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
    model = translated(f"aten.{target}.Tensor", arguments, (2, 3), 3)
    layers = model.architecture.canonical["layers"]
    assert [layer["config"]["scale"] for layer in layers if layer["class_name"] == "Rescaling"] == factors
    (offsets, *_), _ = filter(None, model.weights.values())
    assert offsets.tolist() == added


def test_pooling_around_places_beyond_the_end_is_refused() -> None:
    """In ceil mode, PyTorch pools a map of 8 places around the places 0, 3, 6 and 9, and the last does not exist."""
    arguments = {"self": X, "kernel_size": [5, 5], "stride": [3, 3], "padding": [2, 2], "ceil_mode": True}
    with pytest.raises(UserError, match=r"max_pool2d\.default pads in a way that Keras does not have"):
        translated("aten.max_pool2d.default", arguments, (2, 3, 8, 8), 3 * 4 * 4)
