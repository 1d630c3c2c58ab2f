"""Tests of perturbation response curves of mixup, and of the statistics of such curves."""

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from matrix import rest
from small_networks import dataset, dense, t1, value

import baselines
from baselines import MEASURES, sharing
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.perturbation_response.mixing import CURVES, mixup_curve, partners
from baselines.perturbation_response.response_curve import (
    accuracies_of,
    gi_score,
    grid,
    mean_error,
    pal_score,
    pcd_curve,
)

RANGES = [(0, 1), (0, 0.5), (-180, 179), (3, 4)]
METHODS = ["trapezoid", "exact"]

curves = st.lists(st.floats(0, 1), min_size=2, max_size=30).map(np.array)


def places(accuracies):
    return np.linspace(0, 1, len(accuracies))


@pytest.mark.parametrize("bounds", RANGES)
@pytest.mark.parametrize("n", [2, 3, 11, 25])
def test_constant_and_straight_curves_over_any_range(n, bounds):
    magnitudes = np.linspace(*bounds, n)
    for c, method in itertools.product([0.0, 0.3, 1.0], METHODS):
        accuracies = np.full(n, c)
        assert gi_score(magnitudes, accuracies, method) == pytest.approx(1 - c, abs=1e-12 if c < 1 else 0)
        assert pal_score(magnitudes, accuracies) == pytest.approx(84 if c else 0)
        assert mean_error(accuracies) == pytest.approx(1 - c)
    for slope in (0.1, 0.5, 1.0):
        accuracies = 1 - slope * np.linspace(0, 1, n)
        assert gi_score(magnitudes, accuracies) == pytest.approx(slope / 3 + slope / (n - 1) ** 2 / 6)
        assert gi_score(magnitudes, accuracies, "exact") == pytest.approx(slope / 3)


def test_where_the_pal_score_looks():
    for n, expected in ((11, 55.473684), (51, 54.654244), (100_001, 54.620690)):
        assert pal_score(np.linspace(0, 1, n), 1 - np.linspace(0, 1, n)) == pytest.approx(expected, abs=1e-6)
    assert pal_score(np.linspace(0, 1, 11), np.array([0.0, 0.0, *[1.0] * 9])) == 0
    t = np.linspace(0, 1, 100_001)
    assert pal_score(t, np.where(t <= 0.5, 1.0, 0.0)) == pytest.approx(59, abs=0.01)
    t, cumulative = pcd_curve(np.array([0.0, 0.25, 0.5]), np.array([1.0, 0.5, 0.0]))
    assert (t.tolist(), cumulative.tolist()) == ([0, 0.5, 1], [0, 0.375, 0.5])


def test_early_drops_weigh_most_on_grids_with_or_without_an_endpoint():
    assert grid(0, 0.5, 11)[[0, 5, 10]].tolist() == [0, 0.25, 0.5]
    assert grid(0, 0.5, 10, endpoint=False)[[0, 5, 9]].tolist() == [0, 0.25, 0.45]
    drops = [gi_score(np.linspace(0, 1, 11), 1.0 - (np.arange(11) == i)) for i in range(1, 11)]
    assert drops == sorted(drops, reverse=True)
    t = np.linspace(0, 1, 11)[1:-1]
    assert drops[:-1] == pytest.approx(2 * (1 - t) / 10)  # 2 (1 - t) (1 - A) dt


@given(curves, st.floats(0.01, 1), st.sampled_from(METHODS))
def test_gi_score_is_linear_in_errors_and_pal_score_has_no_scale(accuracies, c, method):
    accuracies = np.round(accuracies, 6)
    scaled = gi_score(places(accuracies), 1 - c * (1 - accuracies), method)
    assert scaled == pytest.approx(c * gi_score(places(accuracies), accuracies, method), abs=1e-9)
    pal = pal_score(places(accuracies), accuracies)
    assert pal_score(places(accuracies), c * accuracies) == pytest.approx(pal)
    assert pal >= 0


@pytest.mark.rest
@given(curves)
def test_exact_is_the_limit_of_finer_grids(accuracies):
    t = places(accuracies)
    fine = np.linspace(0, 1, 200 * (len(t) - 1) + 1)
    interpolated = np.interp(fine, t, accuracies)
    assert gi_score(t, accuracies, "exact") == pytest.approx(gi_score(fine, interpolated), abs=1e-4)
    assert gi_score(fine, interpolated, "exact") == pytest.approx(gi_score(t, accuracies, "exact"), abs=1e-9)


@given(st.lists(st.integers(0, 320), min_size=11, max_size=11), st.randoms())
def test_fractions_give_what_floats_give_and_equal_counts_have_equal_means_to_the_last_digit(hits, random):
    shuffled, hits = np.array(random.sample(hits, len(hits))), np.array(hits)
    exact = accuracies_of(hits, 320)
    assert mean_error(exact) == mean_error(accuracies_of(shuffled, 320)) == pytest.approx(mean_error(hits / 320))
    for magnitudes in (np.linspace(0, 5 / 11, 11), np.linspace(-180, 179, 11)):
        for method in METHODS:
            assert gi_score(magnitudes, exact, method) == pytest.approx(gi_score(magnitudes, hits / 320, method))
        assert pal_score(magnitudes, exact) == pytest.approx(pal_score(magnitudes, hits / 320))


def test_equal_areas_are_equal_to_the_last_digit():
    """Of 11 magnitudes t with step h, inner ones weigh 2 h (1 - t): an error at t = 0.4 costs as much as two at 0.7."""
    shares, values = np.linspace(0, 0.5, 11), set()
    for early, late in [(6, 0), (5, 2), (4, 4), (3, 6), (2, 8), (1, 10), (0, 12)]:
        hits = np.full(11, 300)
        hits[4] -= early
        hits[7] -= late
        values.add(gi_score(shares, accuracies_of(hits, 320)))
    assert len(values) == 1


NAMES = [f"{kind}_l{layer}" for kind, layer in CURVES]


def blobs(n=60, features=4, classes=3, seed=0):
    draw = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    centres = draw.normal(size=(classes, features))
    images = centres[labels] + 0.7 * draw.normal(size=(n, features))
    first = np.random.default_rng(1).normal(size=(features, 9))
    second = np.maximum(centres @ first, 0).T
    biases = [np.full(9, 0.1), -0.5 * np.square(second).sum(axis=0)]
    return dense(first, second, biases=biases), dataset(images, labels)


@pytest.mark.parametrize(
    ("kind", "choices"), [("intra", {0: [2, 5], 1: [3]}), ("inter", {0: [1, 3, 4], 1: [0, 2, 4, 5]})]
)
def test_partners_are_uniform(kind, choices):
    """Class 2 has a single example, which has no partner in its class."""
    labels = np.array([0, 1, 0, 1, 2, 0])
    draws = np.random.default_rng(0)
    found = {0: [], 1: []}
    for _ in range(3000):
        some, others = partners(labels, kind, draws)
        assert sorted(some) == ([0, 1, 2, 3, 5] if kind == "intra" else list(range(6)))
        pairs = dict(zip(some, others, strict=True))
        for example in found:
            found[example].append(pairs[example])
    for example, expected in choices.items():
        values, counts = np.unique(found[example], return_counts=True)
        assert values.tolist() == expected
        assert counts / 3000 == pytest.approx(1 / len(expected), abs=0.04)


def right_by_numpy(model, sample, kind, layer, share, number):
    some, others = partners(sample.labels, kind, stream("partners of mixing", 3, number))
    first, bias, second, shift = model.get_weights()

    def hidden(inputs):
        return np.maximum(inputs @ first + bias, 0)

    x, y = sample.inputs[some], sample.inputs[others]
    behind, at_input = (1 - share) * hidden(x) + share * hidden(y), hidden((1 - share) * x + share * y)
    answers = ((behind if layer else at_input) @ second + shift).argmax(axis=1)
    return np.mean(answers == sample.labels[some])


@pytest.mark.parametrize(("kind", "layer"), CURVES)
def test_curve_against_numpy_with_the_shares_that_are_printed(kind, layer):
    subject = Subject(*blobs())
    shares, accuracies = mixup_curve(subject, kind, layer, 7, 40, 3)
    assert shares == pytest.approx(np.linspace(0, 0.5, 7, endpoint=kind == "intra"))
    printed = MEASURES[f"gi_{kind}_l{layer}"].formula.rpartition("a = ")[2]
    assert printed == ("t / 2" if kind == "intra" else "t (n_alphas - 1) / (2 n_alphas)")
    sample = subject.sample(40, 3, by_class=True)
    expected = [right_by_numpy(subject.model, sample, kind, layer, share, 0) for share in shares]
    assert len(set(expected)) > 2  # a curve that is worth comparing
    assert accuracies == pytest.approx(expected)


def test_a_small_training_set_is_passed_over_until_there_are_enough_pairs():
    subject = Subject(*blobs(n=30))
    shares, accuracies = mixup_curve(subject, "intra", 0, 5, 70, 3)
    sample = subject.sample(70, 3)
    passes = [[right_by_numpy(subject.model, sample, "intra", 0, share, n) for share in shares] for n in range(3)]
    assert accuracies == pytest.approx(np.mean(passes, axis=0))
    drawn = [partners(sample.labels, "intra", stream("partners of mixing", 3, n))[1].tolist() for n in range(3)]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


@pytest.mark.rest
def test_pairs_are_gathered_in_parts(monkeypatch):
    model, data = blobs()
    expected = [value(f"gi_intra_l{layer}", model, data) for layer in (0, 1)]
    monkeypatch.setattr("baselines.perturbation_response.mixing.GATHERED", 7)
    assert [value(f"gi_intra_l{layer}", model, data) for layer in (0, 1)] == expected


@pytest.mark.parametrize(("kind", "layer"), CURVES)
@pytest.mark.parametrize("options", [rest(""), rest("seed=4"), "n_alphas=6,n_samples=30,seed=2"])
def test_measures_are_statistics_of_the_curve(kind, layer, options):
    model, data = blobs()
    given = {"n_alphas": 11, "n_samples": 2048, "seed": 0}
    given |= {name: int(value) for name, value in (part.split("=") for part in options.split(",") if part)}
    curve = mixup_curve(Subject(model, data), kind, layer, **given)
    values = {"gi": gi_score(*curve), "pal": -pal_score(*curve), "pr_mean_error": mean_error(curve[1])}
    with sharing():
        for name, value in values.items():
            assert baselines.load(f"{name}_{kind}_l{layer}:{options}")(model, data) == pytest.approx(value)
        exact = baselines.load(f"gi_{kind}_l{layer}:method=exact,{options}")
        assert exact(model, data) == pytest.approx(gi_score(*curve, "exact"))


def test_combinations():
    with sharing():
        model, data = blobs()
        pal = {name: value(f"pal_{name}", model, data) for name in [*NAMES, "intra_l0_x_l1", "inter_plus_intra_l0"]}
    assert -84 < pal["inter_l0"] < 0
    assert pal["intra_l0_x_l1"] == pytest.approx(-pal["intra_l0"] * pal["intra_l1"])
    assert pal["inter_plus_intra_l0"] == pytest.approx((pal["inter_l0"] + pal["intra_l0"]) / 2)


KNOWN = {
    "straight regions: always right": (np.eye(2), np.eye(2)[[0, 0, 1, 1]], [0, 0, 1, 1], [0, -84, 0]),
    "always another class: never right": ([[0.0, 0.0, 1.0]] * 2, np.ones((6, 2)), [0, 1] * 3, [1, 0, 1]),
    "dead: ties go to class 0": (np.zeros((2, 4)), np.eye(2)[[0, 1] * 8], [0, 1, 2, 3] * 4, [0.75, -84, 0.75]),
}


@pytest.mark.parametrize(("kernel", "images", "labels", "expected"), KNOWN.values(), ids=KNOWN)
def test_networks_of_known_curves(kernel, images, labels, expected):
    model, data = dense(np.eye(2), kernel), dataset(images, labels)
    with sharing():
        for name in NAMES:
            found = [value(f"{prefix}_{name}", model, data) for prefix in ("gi", "pal", "pr_mean_error")]
            assert found == pytest.approx(expected)


def test_two_examples_are_enough_and_a_rare_class_keeps_its_partners_in_a_small_sample():
    data = dataset([[1.0, 0.0], [1.0, 0.2]], [0, 0])
    assert [value(name, t1(), data) for name in ("gi_intra_l0", "gi_intra_l1", "pr_mean_error_intra_l0")] == [0, 0, 0]
    labels = np.array([0] * 500 + [1, 1])
    images = np.where(labels[:, None] == 1, [[0.0, 1.0]], [[1.0, 0.0]])
    subject = Subject(dense(np.eye(2), np.eye(2)), dataset(images, labels))
    for seed in range(5):
        assert np.count_nonzero(subject.sample(20, seed, by_class=True).labels == 1) == 2
        assert mixup_curve(subject, "inter", 0, 3, 20, seed)[1].tolist() == [1, 1, 1]
