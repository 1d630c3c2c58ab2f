"""Tests of adaptive sharpness: closed forms of a linear classifier, all corners of a box, and invariance to scale."""

import itertools
import math

import numpy as np
import pytest
from small_networks import dataset, dense, random_problem
from test_sharpness import ONE_FEATURE

import baselines
from baselines.core.auto_pgd import checkpoints, highest
from baselines.core.streams import stream
from baselines.core.subject import Subject

worst, average, asam = map(
    baselines.load, ("adaptive_sharpness_worst_linf", "adaptive_sharpness_avg", "asam_sharpness")
)


def loss(margin):
    return math.log1p(math.exp(-margin))


@pytest.mark.parametrize(("a", "b", "rho"), [(2.0, 1.0, 0.01), (3.0, -1.0, 0.5), (0.5, 2.0, 0.5)])
def test_a_linear_classifier_in_closed_form(a, b, rho):
    """Logits of `ONE_FEATURE` are (a x, b x), whose margins are all a - b."""
    model, data, margin = dense([[a, b]]), dataset(*ONE_FEATURE), a - b
    found = worst(model, data, rho=rho, normalize_logits=False)
    assert found == pytest.approx(loss(margin - rho * (abs(a) + abs(b))) - loss(margin), rel=1e-4)
    size = rho * math.hypot(a, b)
    assert asam(model, data, rho=rho) == pytest.approx(loss(margin - size) - loss(margin), rel=1e-4)

    drawn = stream("changes of adaptive sharpness", 0).standard_normal((100, 2), np.float32)
    drawn = np.concatenate([drawn, -drawn])
    expected = np.mean([loss(margin + rho * (abs(a) * z - abs(b) * other)) for z, other in drawn]) - loss(margin)
    found = average(model, data, rho=rho, normalize_logits=False, n_draws=100)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_each_batch_has_draws_of_its_own():
    """As all examples have the same margin, 2 draws for each of 8 batches have the mean of 16 draws for all."""
    model, data = dense([[2.0, 1.0]]), dataset(*ONE_FEATURE)
    apart = average(model, data, rho=0.5, normalize_logits=False, n_draws=2, batch=10)
    together = average(model, data, rho=0.5, normalize_logits=False, n_draws=16)
    assert apart == pytest.approx(together, rel=1e-4)


@pytest.mark.rest
def test_uniform_noise_stays_in_the_box():
    model, data = dense([[2.0, 1.0]]), dataset(*ONE_FEATURE)
    grid = (np.arange(200) + 0.5) / 100 - 1
    expected = np.mean(np.logaddexp(0, -(1 + 0.8 * (2 * grid[:, None] - grid)))) - loss(1)
    found = average(model, data, rho=0.8, normalize_logits=False, noise="uniform", n_draws=1000)
    assert found == pytest.approx(expected, abs=0.08)


def test_each_batch_has_its_own_worst_change_and_weighs_by_its_examples():
    """A batch of one class has the worst change of its examples; a batch of both classes has another."""
    model, data, rho = dense([[2.0, 1.0]]), dataset([[1.0], [1.0], [1.0]], [0, 1, 1]), 0.1
    labels = Subject(model, data).sample(1024, 0).labels
    single = {0: loss(0.7) - loss(1), 1: loss(-1.3) - loss(-1)}
    pair = 2 * single[1] if labels[2] == 0 else loss(1.3) - loss(1) + loss(-1.3) - loss(-1)
    found = worst(model, data, rho=rho, batch=2, normalize_logits=False)
    assert found == pytest.approx((pair + single[labels[2]]) / 3, rel=1e-4)


def loss_of(first, second, images, labels, normalizes):
    logits = np.maximum(images @ first, 0) @ second
    if normalizes:
        logits = logits - logits.mean(axis=1, keepdims=True)
        logits = logits / np.maximum(np.linalg.norm(logits, axis=1, keepdims=True), 1e-10)
    return np.mean(np.logaddexp.reduce(logits, axis=1) - logits[np.arange(len(labels)), labels])


@pytest.mark.rest
def test_average_of_the_authors_code():
    """`eval_average_sharpness` of sharpness-vs-generalization (Andriushchenko et al. 2023, commit 6d73be9) has this
    value for adaptive, norm l2, rho 0.5: the mean of three runs of 20,000 draws, which differ by 0.0005."""
    kernels, images, labels = random_problem(2, 2, 3, n=30)
    found = average(dense(*kernels), dataset(images, labels), rho=0.5, normalize_logits=True, n_draws=2000)
    assert found == pytest.approx(-0.01597, abs=2.5e-3)  # three errors of so many draws


@pytest.mark.parametrize("normalizes", [False, True])
def test_no_corner_of_the_box_is_worse_than_what_the_search_finds(normalizes):
    (first, second), images, labels = random_problem(2, 2, 3, n=30)
    rises = []
    for signs in itertools.product([-1, 1], repeat=10):
        scales = 1 + 0.1 * np.array(signs)
        changed = [first * scales[:4].reshape(2, 2), second * scales[4:].reshape(2, 3)]
        rises.append(loss_of(*changed, images, labels, normalizes) - loss_of(first, second, images, labels, normalizes))
    found = worst(dense(first, second), dataset(images, labels), rho=0.1, normalize_logits=normalizes)
    assert found >= 0.97 * max(rises) > 0


@pytest.mark.rest
def test_normalized_logits_are_free_of_scale():
    rng = np.random.default_rng(2)
    kernels, data = [rng.normal(size=(4, 6)), rng.normal(size=(6, 3))], (rng.normal(size=(90, 4)), np.arange(90) % 3)
    for measure in (worst, average):
        plain, *large = (measure(dense(kernels[0], scale * kernels[1]), dataset(*data)) for scale in (1, 10, 1e22))
        assert large == pytest.approx([plain, plain], rel=1e-3)
    # Two classes leave +-1 / sqrt(2), which small changes do not alter.
    assert worst(dense([[2.0, 1.0]]), dataset(*ONE_FEATURE), rho=0.1) == pytest.approx(0, abs=1e-6)


def test_checkpoints_are_those_of_the_paper():
    assert checkpoints(100) == [22, 41, 57, 70, 80, 87, 93, 99]
    assert checkpoints(20) == [5, 9, 12, 14, 16, 18, 19, 20]


def test_a_maximum_within_the_box_is_approached_by_ever_smaller_steps():
    targets = np.array([[0.31, -0.72, 0.05], [0.9, 0.02, 0.6]], np.float32)

    def value(points):
        return -np.sum((points - targets[: len(points)]) ** 2, axis=1), -2 * (points - targets[: len(points)])

    start = np.zeros((2, 3), np.float32)
    found = highest(value, start, value(start), np.ones((2, 3), np.float32), 100)
    assert found == pytest.approx(0, abs=4e-3)
    alone = highest(value, start[:1], value(start[:1]), np.ones((1, 1), np.float32), 100)
    assert alone == found[:1]


def test_a_step_keeps_its_length_while_most_steps_increase_the_value():
    """The paper compares a value with the one before it, not with the maximum."""
    values, visited = iter([0, 9, 1, 2, 3, *range(4, 19)]), []

    def value(points):
        visited.append(points)
        return np.array([float(next(values))]), -points

    start = np.full((1, 1), -0.5)
    highest(value, start, value(start), np.ones((1, 1)), n_steps=19)
    before, last = visited[4:6]  # the first checkpoint is after 5 steps, of which only the second does not increase
    ahead = np.clip(last - 2 * np.sign(last), -1.5, 0.5)
    assert visited[6] == pytest.approx(np.clip(last + 0.75 * (ahead - last) + 0.25 * (last - before), -1.5, 0.5))
