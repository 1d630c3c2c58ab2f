"""Tests that families of measures share: units of inputs and logits, losses near 0, networks without any gradient."""

import math

import numpy as np
import pytest
from matrix import rest
from measure_values import values
from small_networks import dataset, dense, labelled, random_kernels

from baselines import MEASURES

LAYER_MARGINS = {name for name in MEASURES if name.startswith("layer_margin")} - {"layer_margin_winner"}
ATTACKS = {"adversarial_error", "fgsm_error", "auto_pgd_margin"}

#: Measures that change with the unit of neither logits nor inputs, or only with that of inputs; with tolerances.
UNITS = {
    "neither": dict.fromkeys(LAYER_MARGINS, 1e-4) | dict.fromkeys(ATTACKS, 0.02) | {"deepfool_margin": 1e-3},
    "inputs": {"constrained_margin": 0.01},
    "logits": {name: 1e-3 for name, one in MEASURES.items() if one.family == "compression" and "noise" in name}
    | dict.fromkeys(("inverse_layer_cushion", "activation_contraction", "arora_compression_bound"), 1e-3),
}


def in_units(inputs=1, logits=1):
    """Return a network and its data in other units: `inputs` multiplies all inputs, `logits` all logits."""
    first, *middle, last = random_kernels(4, 8, 8, 8, 8, 3)
    model = dense(first / inputs, *middle, logits * last)
    return model, labelled(model, inputs * np.random.default_rng(2).normal(size=(50, 4)))


@pytest.mark.parametrize("units", [{"logits": 7}, {"inputs": 4}], ids=["logits", "inputs"])
def test_units_of_inputs_and_logits(units):
    names = UNITS["neither"] | (UNITS["logits"] | UNITS["inputs"] if "logits" in units else UNITS["inputs"])
    expected, found = (values(*in_units(**of), names) for of in ({}, units))
    assert all(expected.values())
    expected["constrained_margin"] *= units.get("inputs", 1)
    assert found == {name: pytest.approx(expected[name], rel=tolerance) for name, tolerance in names.items()}


def loss(margin):
    return math.log1p(math.exp(-margin))


def wrong(margin):
    """Return the probability of the wrong class."""
    return 1 / (1 + math.exp(margin))


#: Measures of a single example of class 0 with logits (margin, 0), as functions of the margin.
OF_TINY_LOSSES = {
    "fisher_trace": lambda m: 2 * wrong(m) ** 2,
    "log_fisher_trace": lambda m: math.log(2 * wrong(m) ** 2 + 1e-30),
    "input_gradient_norm": lambda m: m * wrong(m),
    "log_input_gradient_norm": lambda m: math.log(m * wrong(m) + 1e-30),
    "input_jacobian_norm:outputs=probabilities": lambda m: math.sqrt(2) * m * wrong(m) * (1 - wrong(m)),
    "hessian_trace": lambda m: 2 * wrong(m) * (1 - wrong(m)),
    "hessian_top_eigenvalue": lambda m: 2 * wrong(m) * (1 - wrong(m)),
    "asam_sharpness:rho=0.1": lambda m: loss(0.9 * m) - loss(m),
    "keskar_sharpness": lambda m: 100 * (loss(m - 1e-3 * (m + 2)) - loss(m)) / (1 + loss(m)),
    "sam_sharpness": lambda m: loss(m - 0.05 * math.sqrt(2)) - loss(m),
}


@pytest.mark.parametrize("margin", [1.0, 20.0, rest(40.0), 80.0])
def test_the_digits_of_tiny_losses_are_kept(margin):
    """Probabilities have no derivative in single precision above a margin of 50."""
    names = [name for name in OF_TINY_LOSSES if margin < 50 or not name.endswith("probabilities")]
    found = values(dense([[margin, 0.0]]), dataset([[1.0]], [0]), names)
    assert found == {name: pytest.approx(OF_TINY_LOSSES[name](margin), rel=1e-4, abs=0) for name in names}


#: Are 0 if a change of the weights does not change the loss; the last one up to rounding.
OF_LOSS = [
    "hessian_trace", "hessian_top_eigenvalue", "effective_dimensionality", "normalized_sharpness", "relative_flatness",
    "adaptive_sharpness_worst_linf", "asam_sharpness", "keskar_sharpness", "sam_sharpness", "gsnr", "m_coherence",
    "tic_trace", "tic_diag", "tic_diag:epsilon=0.0", "gradient_confusion", "neg_stiffness_cosine",
    "neg_stiffness_sign", "ntk_alignment", "adaptive_sharpness_avg",
]  # fmt: skip
SATURATED = OF_LOSS[:3] + OF_LOSS[7:9]


@pytest.mark.parametrize(
    ("kernels", "labels", "names"),
    [(([[-1.0]], [[1.0, 2.0]]), [0, 1, 0, 1], OF_LOSS), (([[1e4, -1e4]],), [0] * 4, [*SATURATED, "relative_flatness"])],
    ids=["a dead unit", "saturated"],
)
def test_a_flat_loss_gives_zero(kernels, labels, names):
    found = values(dense(*kernels), dataset(np.ones((4, 1)), labels), names)
    assert found == dict.fromkeys(names[:-1], 0) | {names[-1]: pytest.approx(0, abs=1e-6)}


#: Kernels, with which the weights have moved from ones, or not at all; and what refuses them.
HOPELESS = {
    "dead": (np.zeros((2, 2)), np.zeros((2, 2)), {"ntk_complexity"}),
    "saturated": (1e8 * np.eye(2), np.array([[1e8, 0], [1e8, 0]]), {"tic_trace"}),
    "beyond doubt": (1e3 * np.diag([3.0, 1.0]), 1e3 * np.diag([2.0, 5.0]), {"tic_trace"}),
    "wrong": (np.eye(2), np.array([[0, 1.0], [0, 1.0]]), set()),
}


#: Need larger layers, or examples that are right.
OTHERS = ("alpha", "weighted_alpha", "log_alpha", "mp_", "rand_", "layer_", "kv_", "constrained_", "deepfool_")


@pytest.mark.parametrize("kind", ["dead", *map(rest, list(HOPELESS)[1:])])
def test_hopeless_networks_have_finite_values(kind):
    families = [name for name, one in MEASURES.items() if one.family in ("norm", "margin", "gradient")]
    *kernels, expected = HOPELESS[kind]
    names, network = [name for name in families if not name.startswith(OTHERS)], dense(*kernels)
    for initial in (network.get_weights(), [np.ones((2, 2))] * 2):
        network.initial_weights = initial
        found = values(network, dataset([[1.0, 1.0], [1.0, 0.5]], [0, 1]), names)
        assert {name for name, one in found.items() if isinstance(one, str)} == expected
