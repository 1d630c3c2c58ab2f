"""Tests of the intrinsic dimension of each layer's output, and of its decrease from layer to layer."""

import numpy as np
import pytest
from small_networks import dataset, dense, layers, sequential

import baselines
from baselines.core import memory
from baselines.core.subject import Subject
from baselines.representation.dimension import two_nn
from baselines.representation.dimension_by_layer import dimensions

peak, last_to_peak = map(baselines.load, ("intrinsic_dimension_peak", "intrinsic_dimension_last_to_peak"))
DRAW = np.random.default_rng(0)
POINTS = DRAW.normal(size=(500, 4))
DATA = dataset(POINTS, [0] * 500)


def linear(*widths):
    """Return a linear network: the output of layer i has 20 units, but only `widths[i]` dimensions."""
    kernels = [
        np.linalg.qr(DRAW.normal(size=(before, before)))[0][:, :width] @ DRAW.normal(size=(width, after))
        for before, width, after in zip((4, *[20] * (len(widths) - 1)), widths, [20] * len(widths), strict=True)
    ]
    return dense(*kernels, DRAW.normal(size=(20, 3)), activation=None)


def test_linear_layers_have_the_dimension_of_their_image_and_measures_look_at_the_peak():
    model = linear(4, 2, 1)
    found = dimensions(Subject(model, DATA), 500, 0.9, 0)
    assert found[:-1] == pytest.approx([4, 2, 1], rel=0.15)
    assert found[-1] == found[-2]
    assert peak(model, DATA) == found.max()
    assert last_to_peak(model, DATA) == found[-1] / found.max()
    assert last_to_peak(linear(4), DATA) == 1
    assert last_to_peak(dense(DRAW.normal(size=(4, 3))), DATA) == 1


def test_layers_in_which_neighbours_are_equally_far_are_left_out():
    places = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    data = dataset(places, [0] * 36)
    with pytest.raises(baselines.MeasureUnavailable, match="needs layers in which the two nearest of three"):
        peak(dense(np.eye(2), np.eye(2, 3)), data)
    hidden = [layers.Dense(2, name="copy"), layers.Dense(2, "sigmoid", name="bent")]
    model = sequential((2,), *hidden, layers.Dense(3))
    for layer, kernel in zip(model.layers, (np.eye(2), [[0.1, 0.2], [0.05, -0.3]]), strict=False):
        layer.set_weights([np.array(kernel), np.zeros(2)])
    found = dimensions(Subject(model, data), 500, 0.9, 0)
    assert np.isnan(found).tolist() == [True, False, False]
    assert peak(model, data) == found[1]


def test_a_layer_of_one_point_has_dimension_0():
    model = dense(np.eye(4), np.zeros((4, 4)), np.eye(4, 3), activation=None)
    found = dimensions(Subject(model, DATA), 500, 0.9, 0)
    assert found == pytest.approx([4, 0, 0], rel=0.15)
    assert last_to_peak(model, DATA) == 0
    dead = dense(np.zeros((4, 4)), np.eye(4, 3))
    assert (peak(dead, DATA), last_to_peak(dead, DATA)) == (0, 1)


def test_a_layer_is_read_in_blocks_of_features_and_refused_if_it_does_not_fit(monkeypatch):
    points = DRAW.normal(size=(60, 50)).astype(np.float32) + 100
    expected = two_nn(points, 0.9)
    monkeypatch.setattr("baselines.representation.dimension.COLUMNS", 7)
    assert two_nn(points, 0.9) == expected
    monkeypatch.setenv(memory.LIMIT, "1000")
    with pytest.raises(baselines.MeasureUnavailable, match=r"what 500 examples are in a layer.* a smaller n_samples"):
        peak(linear(4), DATA)
