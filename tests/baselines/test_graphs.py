"""Tests of graphs of representations: the variation of labels, and persistent homology of correlations of units."""

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from small_networks import dataset, dense, layers, random_kernels, random_problem, sequential, value

import baselines
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.label_variation import variation as label_variation
from baselines.label_variation.graphs import neighbours
from baselines.label_variation.variation import cosine_variation, nearest_variation
from baselines.representation.persistence import dissimilarities, draw_units, unit_distances
from baselines.representation.persistence_h1 import loops


def points(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 5))


def one_hot(labels):
    return np.eye(3)[np.asarray(labels)]


def blobs(n=60):
    draw = np.random.default_rng(0)
    centres, labels = draw.normal(size=(3, 4)), np.arange(n) % 3
    return (centres[labels] + draw.normal(size=(n, 4)) / 2).astype(np.float32), labels


def network(widths=(4, 9, 7, 3), seed=1):
    draw = np.random.default_rng(seed)
    return dense(*random_kernels(*widths, seed=seed), biases=[draw.normal(size=width) / 2 for width in widths[1:]])


def as_in_the_paper(z, y, *, is_symmetric):
    z = z.reshape(len(z), -1) / np.linalg.norm(z.reshape(len(z), -1), axis=1, keepdims=True)
    distances = cdist(z, z, "sqeuclidean")
    kernel = np.exp(-distances / (3 * distances.std()))
    adjacency = (kernel >= np.sort(kernel, axis=1)[:, -2:-1]).astype(float)
    np.fill_diagonal(adjacency, 0)
    if is_symmetric:
        adjacency = np.clip(adjacency + adjacency.T, 0, 1)
    root = np.diag(adjacency.sum(axis=1) ** -0.5)
    laplacian = np.eye(len(z)) - root @ adjacency @ root
    return np.clip(np.trace(y.T @ laplacian @ y) / (2 * 2 * len(z)), 0, 1000)


def test_neighbours():
    similarities = np.array([[1.0, 0.5, 0.2, 0.2], [0.5, 1.0, 0.9, 0.1], [0.2, 0.9, 1.0, 0.3], [0.2, 0.1, 0.3, 1.0]])
    nearest = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    assert neighbours(similarities, 1).astype(int).tolist() == nearest
    assert neighbours(similarities, 2)[0].astype(int).tolist() == [0, 1, 1, 1]  # two tie for the second place
    assert np.array_equal(neighbours(similarities, 99), ~np.eye(4, dtype=bool))


@pytest.mark.parametrize("is_symmetric", [False, True])
@pytest.mark.parametrize("shape", [(30, 2), (40, 6), (20, 3, 3, 2)])
def test_against_the_paper(shape, is_symmetric):
    z = np.random.default_rng(0).normal(size=shape)
    y = np.random.default_rng(1).dirichlet(np.ones(3), len(z))
    expected = pytest.approx(as_in_the_paper(z, y, is_symmetric=is_symmetric))
    assert nearest_variation(z, y, is_symmetric=is_symmetric) == expected


def test_clusters_and_their_opposite_and_one_label():
    angles = np.array([0.0, 0.1, 2.0, 2.11, 4.0, 4.12])
    z = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for is_symmetric in (False, True):
        assert nearest_variation(z, one_hot([0, 0, 1, 1, 2, 2]), is_symmetric=is_symmetric) == pytest.approx(0)
        assert nearest_variation(z, one_hot([0, 1, 0, 1, 2, 0]), is_symmetric=is_symmetric) == pytest.approx(1 / 4)
    assert cosine_variation(z, one_hot([0, 0, 1, 1, 2, 2]), 1) == pytest.approx(0)
    expected = 2 * (np.cos(0.1) + np.cos(0.11) + np.cos(0.12)) / (200 * 6)
    assert cosine_variation(z, one_hot([0, 1, 0, 1, 2, 0]), 1) == pytest.approx(expected)
    z, y = points(20), one_hot([1] * 20)
    assert (nearest_variation(z, y, is_symmetric=False), cosine_variation(z, y, 5)) == pytest.approx((0, 0))
    for where in (0.0, 0.3):  # representations that are all the same are all neighbours
        z, y, n = np.full((12, 4), where), one_hot(np.arange(12) % 3), 12
        same = 3 * 4 * 3  # number of pairs with equal labels
        for is_symmetric in (False, True):
            assert nearest_variation(z, y, is_symmetric=is_symmetric) == pytest.approx((n - same / (n - 1)) / (4 * n))
        different = n * (n - 1) - same if where else 0
        assert cosine_variation(z, y, 2) == pytest.approx(different / (200 * n))


def test_vpm_is_about_mixed_examples():
    images, labels = blobs()
    subject = Subject(network(), dataset(images, labels))
    rng = stream("vpm", 6, 0)
    order = rng.permutation(60)
    chosen = np.concatenate([order[labels[order] == label][:10] for label in range(3)])  # 32 // 3 of each class
    partners, shares = rng.permutation(30), rng.beta(2, 2, 30)[:, None]
    x, y = images[chosen], one_hot(labels[chosen])
    mixed = (shares * x + (1 - shares) * x[partners]).astype(np.float32)
    first, bias, second, shift, *_ = subject.model.get_weights()
    z = np.maximum(np.maximum(mixed @ first + bias, 0) @ second + shift, 0)
    expected = as_in_the_paper(z, shares * y + (1 - shares) * y[partners], is_symmetric=False)
    assert value("vpm", subject.model, subject.dataset, n_samples=32, seed=6) == pytest.approx(expected)
    assert 0 < expected < 0.25


def test_vpm_is_the_median_of_its_graphs(monkeypatch):
    variations = iter([0.1, 0.9, 0.2])
    monkeypatch.setattr(label_variation, "nearest_variation", lambda *_, **__: next(variations))
    assert value("vpm", network(), dataset(*blobs()), n_graphs=3) == 0.2


@pytest.mark.parametrize(("n_layers", "last"), [(1, 1), (2, 1), (3, 2), (5, 2), (6, 3)])
def test_wcv_is_the_worst_of_the_last_third(n_layers, last):
    """Of L layers, the measure takes the last L // 3 + 1 layers."""
    images, labels = blobs(n=45)
    widths = (4, *[6] * (n_layers - 1), 3)
    model, data = network(widths, seed=2), dataset(images, labels)
    subject = Subject(model, data)
    inputs = [sources[0] for sources, _ in subject.network.layers][-last:]
    found = subject.network.outputs(images, inputs)
    expected = [nearest_variation(z, one_hot(labels), is_symmetric=True) for z in found]
    assert len(expected) == last
    assert value("wcv", model, data) == pytest.approx(max(expected), abs=1e-6)


def test_graphs_have_as_many_examples_of_each_class(monkeypatch):
    images, labels = blobs(n=60)
    data = dataset(np.concatenate([images, images[labels == 0]]), np.concatenate([labels, [0] * 20]))
    counts = []

    def count(_, labels, **options):
        counts.append(labels.sum(axis=0).tolist())
        return 0.0

    monkeypatch.setattr(label_variation, "nearest_variation", count)
    for name, options in (("wcv", {"per_class": 7}), ("wcv", {"per_class": 30}), ("vpm", {"n_samples": 2})):
        value(name, network(), data, **options)
    assert counts[:-1] == [[7, 7, 7]] * 2 + [[30, 20, 20]] * 2  # for two layers
    assert sum(counts[-1]) == pytest.approx(3)


def test_vr_step_by_step():
    images, labels = blobs(n=100)
    model, data = network(), dataset(images, labels)
    subject = Subject(model, data)
    sample = subject.sample(90, 2)
    network_ = subject.network
    first, second = (sources[0] for sources, _ in network_.layers[-2:])
    found = network_.outputs(sample.inputs, [first, second, network_.output])
    rates = []
    for part in range(3):
        some = slice(30 * part, 30 * (part + 1))
        values = []
        for z in (array[some].astype(float) for array in found):
            similarities = np.clip(1 - cdist(z, z, "cosine"), 0, 1)
            adjacency = (similarities >= np.sort(similarities, axis=1)[:, -5:-4]).astype(float)
            np.fill_diagonal(adjacency, 0)
            weights = np.clip(adjacency + adjacency.T, 0, 1) * similarities
            laplacian = np.diag(weights.sum(axis=1)) - weights
            y = one_hot(sample.labels[some])
            values.append(np.trace(y.T @ laplacian @ y) / (200 * 30))
        rates.append(np.mean(np.abs(np.diff(values))))
    found = value("vr", model, data, graph_size=30, n_graphs=3, n_neighbours=4, seed=2)
    assert found == pytest.approx(np.median(rates), rel=1e-4)


def test_dead_networks_and_few_examples_or_classes():
    cases = {
        "dead": (dense(np.zeros((4, 6)), np.zeros((6, 3))), *blobs()),
        "one class": (network(), blobs()[0], np.zeros(60)),
        "two examples": (network(), *blobs(n=2)),
        "one example": (network(), *blobs(n=1)),
    }
    for case, (model, images, labels) in cases.items():
        for name in ("vpm", "wcv", "vr"):
            most = 0.05 if (case, name) == ("one class", "wcv") else 0.25  # degrees differ, labels do not
            assert 0 <= value(name, model, dataset(images, labels)) <= most, case


mean_h0, std_h0 = baselines.load("persistence_mean_h0"), baselines.load("persistence_std_h0")

#: Inputs whose two features do not correlate.
IMAGES = [[1, 1], [1, -1], [-1, 1], [-1, -1]]


def convolutional():
    tf.keras.utils.set_random_seed(1)
    middle = [layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D()]
    return sequential((6, 6, 2), *middle, layers.Flatten(), layers.Dropout(0.5), layers.Dense(5), layers.Dense(3))


def examples(n=50):
    rng = np.random.default_rng(0)
    return dataset(rng.normal(size=(n, 6, 6, 2)), rng.integers(0, 3, n))


def test_against_a_minimum_spanning_tree_of_all_units():
    """Units are the outputs of both dense layers, and of the convolution after its normalization and activation."""
    model = convolutional()
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


def test_how_units_are_moved_does_not_matter_but_constant_ones_correlate_with_none():
    draws = np.random.default_rng(0).normal(size=(30, 6))
    moved = draws * [1, -1, 5, 0.1, -3, 1] + [0, 1, 2, 3, 4, 5]
    assert dissimilarities(moved) == pytest.approx(dissimilarities(draws), abs=1e-6)
    draws = np.random.default_rng(0).normal(size=(30, 3))
    draws[:, 1] = 0.1
    assert dissimilarities(draws.astype(np.float32))[1, [0, 2]] == pytest.approx([1, 1])
    dead = dense(np.zeros((2, 4)), np.zeros((4, 2)))
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
    model = convolutional()
    values = [mean_h0(model, examples(), n_units=20, seed=seed) for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
    assert values[0] != mean_h0(model, examples())
