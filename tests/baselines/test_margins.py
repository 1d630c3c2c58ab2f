"""Tests of the output margin, norms divided by the margin, and confidence."""

import math

import numpy as np
import pytest
from small_networks import T1_DATA, dataset, dense, plain, scaled_t1, t1

import baselines

T1 = dataset(*T1_DATA)
#: Of T1, whose margin is 1.
VALUES = {
    "inverse_margin": 1,
    "neg_output_margin": -1,
    "normalized_margin": -1 / 15,
    "log_prod_of_spec_over_margin": math.log(225),
    "log_prod_of_fro_over_margin": math.log(290),
    "log_sum_of_spec_over_margin": math.log(30),
    "log_sum_of_fro_over_margin": math.log(34.0587727),
    "log_spec_init_main": math.log(253),
    "log_spec_orig_main": math.log(511),
    "path_norm_over_margin": 61,
    "cross_entropy": 0.313262,
    "neg_entropy": -0.582203,
}
VARIANTS = [name for name in VALUES if "spec" in name] + ["normalized_margin"]
ALL = [*VALUES, *(name + suffix for name in VARIANTS for suffix in ("_fft", "_op"))]
BOUNDS = [f"log_spec_{kind}{suffix}" for kind in ("init", "orig") for suffix in ("", "_fft", "_op")]


def value(name, model, data=T1, **parameters):
    return baselines.load(name)(model, data, **parameters)


def with_margins(margins):
    """Return a network of two classes and a training set on which it has these margins."""
    return dense([[1.0, 0.0]]), dataset(np.reshape(margins, (-1, 1)), [0] * len(margins))


@pytest.mark.parametrize("name", ALL)
def test_t1(name):
    assert value(name, t1()) == pytest.approx(VALUES[plain(name)], rel=2e-6)


@pytest.mark.parametrize(("name", "ratios"), [("log_spec_init", 4 / 9 + 17 / 25), ("log_spec_orig", 10 / 9 + 29 / 25)])
def test_spectral_bound_of_t1(name, ratios):
    constant = 84 * math.sqrt(2) * 2 * math.sqrt(2) + math.sqrt(math.log(4 * 2))
    expected = math.log(225 * ratios * constant**2 + math.log(1 / 0.05))
    assert [value(name + suffix, t1(), delta=0.05) for suffix in ("", "_fft", "_op")] == pytest.approx([expected] * 3)


@pytest.mark.parametrize(("number", "rank"), [(1, 1), (9, 1), (10, 1), (19, 1), (20, 2), (30, 3)])
def test_the_margin_is_the_smallest_but_a_tenth(number, rank):
    margins = np.random.default_rng(0).permutation(number) + 1.0
    assert value("neg_output_margin", *with_margins(margins)) == -rank
    assert value("inverse_margin", *with_margins(margins)) == pytest.approx(1 / rank**2)


def test_percentiles_between_margins_and_misclassified_examples():
    margins = np.arange(1.0, 12.5)
    found = value("neg_output_margin", *with_margins(margins), percentile_method="linear")
    assert found == pytest.approx(-np.percentile(margins, 10))
    with pytest.raises(ValueError, match="percentile_method: expected kth or linear, found nearest"):
        value("neg_output_margin", *with_margins(margins), percentile_method="nearest")
    network = with_margins([-2.0, 5.0])
    assert (value("neg_output_margin", *network), value("normalized_margin", *network)) == (2, 2)
    for options, expected in (({}, 1e12), ({"margin_floor": 0.1}, 100), ({"parity_abs": True}, 1 / 4)):
        assert value("inverse_margin", *network, **options) == pytest.approx(expected)


@pytest.mark.parametrize("name", ALL)
def test_the_scale_of_the_logits(name):
    is_invariant = plain(name) in ("log_spec_orig_main", "normalized_margin") or plain(name).endswith("_over_margin")
    assert (value(name, scaled_t1(1, 7)) == pytest.approx(value(name, t1()), rel=1e-5)) == is_invariant


HOPELESS = {
    "dead": (np.zeros((2, 2)), np.zeros((2, 2))),
    "saturated": (1e8 * np.eye(2), np.array([[1e8, 0], [1e8, 0]])),
    "wrong": (np.eye(2), np.array([[0, 1.0], [0, 1.0]])),
}


@pytest.mark.rest
@pytest.mark.parametrize("name", [*ALL, *BOUNDS])
@pytest.mark.parametrize("kernels", HOPELESS.values(), ids=HOPELESS)
def test_hopeless_networks_have_finite_values(name, kernels):
    network = dense(*kernels)
    network.initial_weights = network.get_weights()
    assert math.isfinite(value(name, network))


def test_normalization():
    data = dataset([[1.0, 1.0]] * 5, [0] * 5)
    assert value("inverse_margin", t1(), data, normalization="dziugaite") == pytest.approx(math.sqrt(1 / 5))
    found = value("log_prod_of_spec_over_margin_fft", t1(), data, normalization="dziugaite")
    assert found == pytest.approx((math.log(225) - math.log(5)) / 2)


@pytest.mark.parametrize(("kernel", "expected"), [(np.zeros((2, 5)), math.log(5)), ([[1e4, 0.0], [0.0, 0.0]], 0)])
def test_uniform_and_certain_answers(kernel, expected):
    found = [value(name, dense(kernel)) for name in ("neg_entropy", "cross_entropy")]
    assert found == pytest.approx([-expected, expected])


def test_a_subsample_is_drawn_by_seed():
    model, data = with_margins(np.random.default_rng(0).normal(size=200))
    for name in ("neg_output_margin", "cross_entropy", "neg_entropy"):
        found = [value(name, model, data, n_samples=50, seed=seed) for seed in (0, 0, 1)]
        assert found[0] == found[1] != found[2]
        assert value(name, model, data) == pytest.approx(value(name, model, data, n_samples=200, seed=1))
