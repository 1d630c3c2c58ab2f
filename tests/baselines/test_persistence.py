"""Tests of persistent homology of correlations: closed forms, spanning trees, ranks of boundary matrices, sampling."""

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf
from scipy.sparse.csgraph import minimum_spanning_tree
from small_networks import dataset, dense, layers, random_problem, sequential

import baselines
from baselines.core.subject import Subject
from baselines.representation.persistence import (
    dissimilarities,
    draw_units,
    merge_heights,
    unit_distances,
)
from baselines.representation.persistence_h1 import loops

mean_h0, std_h0 = baselines.load("persistence_mean_h0"), baselines.load("persistence_std_h0")

#: Inputs whose two features do not correlate.
IMAGES = [[1, 1], [1, -1], [-1, 1], [-1, -1]]


def linear(*kernels):
    return dense(*kernels, activation=None)


def test_units_of_known_correlations():
    """The units are a, b, a + b and a - b; a and b each correlate by 1 / sqrt 2 (in size) with a + b and a - b."""
    model, data = linear(np.eye(2), [[1, 1], [1, -1]]), dataset(IMAGES, [0] * 4)
    assert mean_h0(model, data) == pytest.approx(-(1 - np.sqrt(0.5)), rel=1e-5)
    assert std_h0(model, data) == pytest.approx(0, abs=1e-6)
    # a, b, and 3 a + 4 b twice, which correlates by 0.6 and 0.8 with them: edges are 0, 0.2 and 0.4.
    model, data = linear(np.eye(2), [[3, -3], [4, -4]]), dataset(IMAGES, [0] * 4)
    assert mean_h0(model, data) == pytest.approx(-0.2, rel=1e-5)
    assert std_h0(model, data) == pytest.approx(np.std([0, 0.2, 0.4]), rel=1e-5)


def network():
    tf.keras.utils.set_random_seed(1)
    middle = [layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D()]
    return sequential((6, 6, 2), *middle, layers.Flatten(), layers.Dropout(0.5), layers.Dense(5), layers.Dense(3))


def examples(n=50):
    rng = np.random.default_rng(0)
    return dataset(rng.normal(size=(n, 6, 6, 2)), rng.integers(0, 3, n))


def test_against_a_minimum_spanning_tree_of_all_units():
    """Units are the outputs of both dense layers, and of the convolution after its normalization and activation."""
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


#: What its version 0.6.15 finds in degree 0, by the units that are dead: their correlations, which are not defined, are
#: set to 0 in the authors' code.
RIPSER = {
    (): [0.1718904, 0.2594239, 0.4019339, 0.5044268, 0.5870073, 0.6350288, 0.6446825],
    (2, 5): [0.2594239, 0.4019339, 0.5835499, 0.5870073, 0.6603108, 1, 1],
}


@pytest.mark.parametrize("dead", RIPSER)
def test_deaths_of_package_ripser(dead):
    """The expected deaths are those of package ripser for 8 units with distances 1 - |corr|."""
    draws = np.random.default_rng(0).normal(size=(10, 8))
    draws[:, list(dead)] = 0
    assert merge_heights(dissimilarities(draws)) == pytest.approx(RIPSER[dead], abs=1e-6)


def test_how_units_are_moved_does_not_matter_but_constant_ones_correlate_with_none():
    draws = np.random.default_rng(0).normal(size=(30, 6))
    moved = draws * [1, -1, 5, 0.1, -3, 1] + [0, 1, 2, 3, 4, 5]
    assert dissimilarities(moved) == pytest.approx(dissimilarities(draws), abs=1e-6)
    draws = np.random.default_rng(0).normal(size=(30, 3))
    draws[:, 1] = 0.1
    assert dissimilarities(draws.astype(np.float32))[1, [0, 2]] == pytest.approx([1, 1])
    dead = linear(np.zeros((2, 4)), np.zeros((4, 2)))
    assert mean_h0(dead, dataset(IMAGES, [0] * 4)) == -1


def test_units_are_drawn_by_how_often_they_are_the_most_active():
    counts = np.array([0, 60, 30, 9, 0, 0])
    rng = np.random.default_rng(0)
    drawn = np.concatenate([draw_units(counts, 1, rng) for _ in range(4000)])
    shares = np.bincount(drawn, minlength=6) / len(drawn)
    assert shares == pytest.approx([1 / 300, 0.6, 0.3, 0.09, 1 / 300, 1 / 300], abs=0.03)
    assert len(set(draw_units(counts, 5, rng))) == 5
    assert list(draw_units(counts, 6, rng)) == list(range(6))


life, midlife = map(baselines.load, ("persistence_life_h1", "persistence_midlife_h1"))


def between(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


@pytest.mark.parametrize(("corners", "steps"), [(4, 2), (6, 2), (7, 3), (12, 4)])
def test_a_regular_polygon_is_one_loop(corners, steps):
    """It is born at the polygon's side, and dies at the longest side of the smallest triangle around the centre."""
    angles = 2 * np.pi * np.arange(corners) / corners
    found = loops(between(np.stack([np.cos(angles), np.sin(angles)], axis=1)))
    chord = [2 * math.sin(math.pi * k / corners) for k in (1, steps)]
    assert found == pytest.approx(np.array([chord]))


def test_two_loops_apart():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    found = loops(between(np.concatenate([square, 10 + 2 * square])))
    assert found == pytest.approx(np.array([[1, math.sqrt(2)], [2, math.sqrt(8)]]))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_trees_and_equal_distances_have_no_loops(n):
    assert loops(1 - np.eye(n)).shape == (0, 2)
    assert loops(between(np.arange(n)[:, None] ** 2.0)).shape == (0, 2)


@pytest.mark.parametrize("seed", range(3))
def test_as_many_loops_are_alive_as_ranks_of_boundaries_say(seed):
    """The number of living loops is computed from the ranks of the boundary matrices modulo 2."""
    distances = between(np.random.default_rng(seed).normal(size=(11, 2)))
    found = loops(distances)
    assert len(found) > 0
    for radius in np.quantile(distances[distances > 0], np.linspace(0.05, 0.95, 13)):
        alive = np.sum((found[:, 0] <= radius) & (radius < found[:, 1]))
        assert alive == first_betti_number(distances, radius)


def first_betti_number(distances, radius):
    n = len(distances)
    edges = [pair for pair in itertools.combinations(range(n), 2) if distances[pair] <= radius]
    triangles = [t for t in itertools.combinations(range(n), 3) if {*itertools.combinations(t, 2)} <= {*edges}]
    points = np.array([[point in edge for edge in edges] for point in range(n)])
    sides = np.array([[{*edge} <= {*triangle} for triangle in triangles] for edge in edges])
    return len(edges) - rank_modulo_2(points) - rank_modulo_2(sides)


def rank_modulo_2(matrix):
    rows, rank = [int("".join(map(str, row)), 2) for row in matrix.astype(int).tolist() if row], 0
    while rows:
        pivot = rows.pop()
        if pivot:
            rank += 1
            lowest = pivot & -pivot
            rows = [row ^ pivot if row & lowest else row for row in rows]
    return rank


def random_network(width=30):
    return dense(*random_problem(5, width, 3, seed=0)[0])


DATA = dataset(np.random.default_rng(3).normal(size=(80, 5)), [0] * 80)


def test_the_measures_are_means_over_loops():
    found = loops(unit_distances(Subject(random_network(), DATA), 2000, 64, 0))
    assert len(found) > 1
    assert life(random_network(), DATA) == pytest.approx(np.mean(found[:, 1] - found[:, 0]))
    assert midlife(random_network(), DATA) == pytest.approx(-np.mean(found.sum(axis=1) / 2))


def test_samples_of_units_are_drawn_by_seed_and_dead_units_make_no_loop():
    values = [life(random_network(width=100), DATA, n_units=20, seed=seed) for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
    dead = dense(np.zeros((5, 4)), np.zeros((4, 2)))
    assert (life(dead, DATA), midlife(dead, DATA)) == (0, 0)
    model = network()
    values = [mean_h0(model, examples(), n_units=20, seed=seed) for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
    assert values[0] != mean_h0(model, examples())
