"""Persistent homology in degree 1: polygons, the ranks of boundary matrices, sampling."""

import itertools
import math

import numpy as np
import pytest
from small_networks import dataset, dense

import baselines
from baselines.core.subject import Subject
from baselines.representation.persistence import unit_distances
from baselines.representation.persistence_h1 import loops

life, midlife = map(baselines.load, ("persistence_life_h1", "persistence_midlife_h1"))


def between(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


@pytest.mark.parametrize(("corners", "steps"), [(4, 2), (6, 2), (7, 3), (12, 4)])
def test_a_regular_polygon_is_one_loop(corners, steps):
    """Born with its sides; filled by the triangles of a third of a turn, or the first longer ones."""
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
    """At each radius: edges less points joined by them, less the rank of the triangles' boundaries modulo 2."""
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


def network(seed=0, width=30):
    draw = np.random.default_rng(seed)
    return dense(draw.normal(size=(5, width)), draw.normal(size=(width, 3)))


DATA = dataset(np.random.default_rng(3).normal(size=(80, 5)), [0] * 80)


def test_the_measures_are_means_over_loops():
    found = loops(unit_distances(Subject(network(), DATA), 2000, 64, 0))
    assert len(found) > 1
    assert life(network(), DATA) == pytest.approx(np.mean(found[:, 1] - found[:, 0]))
    assert midlife(network(), DATA) == pytest.approx(-np.mean(found.sum(axis=1) / 2))


def test_units_are_drawn_by_seed_and_none_makes_no_loop():
    values = [life(network(width=100), DATA, n_units=20, seed=seed) for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
    dead = dense(np.zeros((5, 4)), np.zeros((4, 2)))
    assert (life(dead, DATA), midlife(dead, DATA)) == (0, 0)
