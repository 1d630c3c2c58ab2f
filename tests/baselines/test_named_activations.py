"""Tests of the hard sigmoid of Keras 2: measures know by its name that it has linear pieces and gives probabilities."""

import numpy as np
import pytest
import tensorflow as tf

from baselines.network.hidden import is_bent
from baselines.network.operations import operation
from baselines.network.reading import read_nodes
from harness.worker.architecture import build_model


@pytest.mark.parametrize("name", ["hard_sigmoid", "hard_sigmoid_of_keras_2"])
def test_a_hard_sigmoid_has_a_name_and_pieces(name: str) -> None:
    layers = [
        {"class_name": "Dense", "config": {"units": 5, "activation": name}},
        {"class_name": "Dense", "config": {"units": 3}},
    ]
    model = build_model({"format": "layers", "input_shape": [4], "layers": layers}, tf.keras)
    nodes = read_nodes(model).nodes
    assert [node.config.get("activation") for node in nodes] == ["linear", name, "linear"]
    assert is_bent(nodes[1])
    computing = operation(nodes[1], "float32")
    assert computing is not None
    inputs = tf.constant(np.linspace(-4, 4, 9, dtype=np.float32)[:, None])
    expected = np.clip(inputs / 5 + 0.5, 0, 1) if name.endswith("2") else np.clip(inputs / 6 + 0.5, 0, 1)
    np.testing.assert_allclose(computing(inputs), expected, atol=1e-6)


def test_outputs_of_a_hard_sigmoid_are_probabilities_without_logits() -> None:
    layers = [{"class_name": "Dense", "config": {"units": 3, "activation": "hard_sigmoid_of_keras_2"}}]
    model = build_model({"format": "layers", "input_shape": [4], "layers": layers}, tf.keras)
    assert "hard_sigmoid_of_keras_2" in str(read_nodes(model).no_logits)
