"""Persistent homology of correlations in degree 0: closed forms, minimum spanning trees, package `ripser`, sampling."""

import numpy as np
import pytest
import tensorflow as tf
from scipy.sparse.csgraph import minimum_spanning_tree
from small_networks import dataset, dense, layers

import baselines
from baselines.core.subject import Subject
from baselines.representation.persistence import dissimilarities, draw_units, merge_heights, unit_positions

mean_h0, std_h0 = baselines.load("persistence_mean_h0"), baselines.load("persistence_std_h0")

#: Inputs whose two features do not correlate.
IMAGES = [[1, 1], [1, -1], [-1, 1], [-1, -1]]


def linear(*kernels):
    return dense(*kernels, activation=None)


def test_units_at_45_degrees():
    """a, b, a + b and a - b: each of the first two correlates by 1 / sqrt 2 with each of the last two."""
    model, data = linear(np.eye(2), [[1, 1], [1, -1]]), dataset(IMAGES, [0] * 4)
    assert mean_h0(model, data) == pytest.approx(-(1 - np.sqrt(0.5)), rel=1e-5)
    assert std_h0(model, data) == pytest.approx(0, abs=1e-6)


def test_units_with_different_correlations():
    """a, b, and 3 a + 4 b twice, which correlates by 0.6 and 0.8 with them: edges are 0, 0.2 and 0.4."""
    model, data = linear(np.eye(2), [[3, -3], [4, -4]]), dataset(IMAGES, [0] * 4)
    assert mean_h0(model, data) == pytest.approx(-0.2, rel=1e-5)
    assert std_h0(model, data) == pytest.approx(np.std([0, 0.2, 0.4]), rel=1e-5)


def network():
    tf.keras.utils.set_random_seed(1)
    middle = [layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D()]
    return tf.keras.Sequential(
        [tf.keras.Input((6, 6, 2)), *middle, layers.Flatten(), layers.Dropout(0.5), layers.Dense(5), layers.Dense(3)]
    )


def examples(n=50):
    rng = np.random.default_rng(0)
    return dataset(rng.normal(size=(n, 6, 6, 2)), rng.integers(0, 3, n))


def test_against_a_minimum_spanning_tree_of_all_units():
    """Units are outputs of the convolution behind its activation and normalization, and of both dense layers."""
    model = network()
    images = np.stack([image for image, _ in examples()])
    flow, found = images, []
    for layer in model.layers:
        flow = layer(flow, training=False)
        if isinstance(layer, layers.BatchNormalization | layers.Dense):
            found.append(flow.numpy().reshape(len(images), -1).astype(np.float64))
    units = np.concatenate(found, axis=1)
    assert units.shape[1] == 64 + 5 + 3
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = 1 - np.abs(np.nan_to_num(np.corrcoef(units.T)))
    tree = minimum_spanning_tree(distances + 1).data - 1  # it takes a distance of 0 for a missing edge
    assert mean_h0(model, examples()) == pytest.approx(-tree.mean(), rel=1e-4)
    assert std_h0(model, examples()) == pytest.approx(tree.std(), rel=1e-4)


def test_deaths_of_package_ripser():
    """What its version 0.6.15 finds in degree 0 for correlations of 8 units: 1 - |corr| of draws from a normal law."""
    draws = np.random.default_rng(0).normal(size=(10, 8))
    assert merge_heights(dissimilarities(draws)) == pytest.approx(
        [0.1718904, 0.2594239, 0.4019339, 0.5044268, 0.5870073, 0.6350288, 0.6446825], abs=1e-6
    )


def test_scale_sign_and_shift_of_units_do_not_matter():
    draws = np.random.default_rng(0).normal(size=(30, 6))
    moved = draws * [1, -1, 5, 0.1, -3, 1] + [0, 1, 2, 3, 4, 5]
    assert dissimilarities(moved) == pytest.approx(dissimilarities(draws), abs=1e-6)


def test_constant_units_correlate_with_none():
    draws = np.random.default_rng(0).normal(size=(30, 3))
    draws[:, 1] = 0.1
    assert dissimilarities(draws.astype(np.float32))[1, [0, 2]] == pytest.approx([1, 1])
    dead = linear(np.zeros((2, 4)), np.zeros((4, 2)))
    assert mean_h0(dead, dataset(IMAGES, [0] * 4)) == -1


def test_dead_units_count_as_in_the_authors_code():
    """Deaths of package `ripser` 0.6.15 for correlations that their code sets to 0 where they are undefined."""
    draws = np.random.default_rng(0).normal(size=(10, 8))
    draws[:, [2, 5]] = 0
    assert merge_heights(dissimilarities(draws)) == pytest.approx(
        [0.2594239, 0.4019339, 0.5835499, 0.5870073, 0.6603108, 1, 1], abs=1e-6
    )


def test_units_are_drawn_by_how_often_they_are_the_most_active():
    counts = np.array([0, 60, 30, 9, 0, 0])
    rng = np.random.default_rng(0)
    drawn = np.concatenate([draw_units(counts, 1, rng) for _ in range(4000)])
    shares = np.bincount(drawn, minlength=6) / len(drawn)
    assert shares == pytest.approx([1 / 300, 0.6, 0.3, 0.09, 1 / 300, 1 / 300], abs=0.03)
    assert len(set(draw_units(counts, 5, rng))) == 5
    assert list(draw_units(counts, 6, rng)) == list(range(6))


def test_a_sample_of_units_is_the_same_for_the_same_seed():
    model = network()
    values = [mean_h0(model, examples(), n_units=20, seed=seed) for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
    assert values[0] != mean_h0(model, examples())


def test_positions_of_units():
    """Those of weight layers, behind normalization and activation, whatever layers these are."""
    found = Subject(network(), None).network
    assert [found.nodes[place].kind for place in unit_positions(found)] == ["BatchNormalization", "Dense", "Dense"]
