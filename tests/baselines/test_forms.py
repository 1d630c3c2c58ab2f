"""Tests of the form in which measures see a network: as it was trained, or with its normalization folded."""

import numpy as np
import pytest
from kinds import KINDS
from small_networks import dataset, layers, sequential

import baselines
from baselines.core.needs import Form
from baselines.core.subject import Subject
from baselines.network import Network
from baselines.sharpness.hessian import leading_eigenvalues

pytestmark = pytest.mark.rest

#: A network like VGG with batch normalization, which is folded by hand, too.
WIDTHS = (8, 8, 16)
SHAPE, CLASSES, EXAMPLES = (8, 8, 3), 4, 96
EPSILON = 1e-3


def vgg_arrays(seed=0):
    """Kernels, biases, scales, shifts, means and variances, in the order of `get_weights()`."""
    rng, found, inputs = np.random.default_rng(seed), [], SHAPE[-1]
    for width in WIDTHS:
        found.append(rng.normal(size=(3, 3, inputs, width)) * (2 / (9 * inputs)) ** 0.5)
        found.append(0.1 * rng.normal(size=width))
        found += [rng.uniform(0.5, 1.5, width), 0.3 * rng.normal(size=width)]  # scales and shifts
        found += [0.2 * rng.normal(size=width), rng.uniform(0.05, 0.5, width)]  # means and variances
        inputs = width
    found += [rng.normal(size=(4 * 4 * inputs, CLASSES)) / 8, 0.1 * rng.normal(size=CLASSES)]
    return [array.astype(np.float32) for array in found]


def examples(seed=1):
    rng = np.random.default_rng(seed)
    return dataset(rng.normal(size=(EXAMPLES, *SHAPE)).astype(np.float32), rng.integers(0, CLASSES, EXAMPLES))


def folded(weights):
    """Return the arrays of the same network without normalization."""
    found, last = [], weights[-2:]
    for first in range(0, 6 * len(WIDTHS), 6):
        kernel, bias, gamma, beta, mean, variance = weights[first : first + 6]
        scale = gamma / np.sqrt(variance + EPSILON)
        found += [kernel * scale, (bias - mean) * scale + beta]
    return [*found, *last]


def vgg_like(*, normalized=True):
    """Return the network with the weights of `vgg_arrays()`, or, without normalization, with those of `folded()`."""
    parts = []
    for number, width in enumerate(WIDTHS):
        parts.append(layers.Conv2D(width, 3, padding="same"))
        parts += [layers.BatchNormalization(epsilon=EPSILON)] if normalized else []
        parts.append(layers.ReLU())
        parts += [layers.MaxPooling2D()] if number == 1 else []
    model = sequential(SHAPE, *parts, layers.Flatten(), layers.Dense(CLASSES))
    ends = [vgg_arrays(seed) if normalized else folded(vgg_arrays(seed)) for seed in (2, 0)]
    model.initial_weights = ends[0]
    model.set_weights(ends[1])
    return model


#: Forms on the pages of measures.
FORMS = {name: measure.weights for name, measure in baselines.MEASURES.items() if measure.weights is not None}

#: Measures of the network as it was trained that do not need all parameters: of unchanged arrays, or a single kernel.
OF_SOME_ARRAYS = {"distance_from_init", "relative_flatness"}

#: Whole Hessians and gradients of `vgg_like()` by automatic differentiation of PyTorch 2.13.0 in float64 in
#: inference mode, with all of `model.parameters()` as weights; then those of the network that was folded by hand.
#: PyHessian 0.1 has largest eigenvalues of 1938.574 and 1554.105, and traces by 2000 probes of 4675.5 and 3061.0.
OF_PEERS = {
    "asam_sharpness": (13.33963398956048, 8.330458061987514),
    "fisher_rao_norm": (119.33105102054323, 66.7351087137829),
    "fisher_trace": (65991.43338540358, 42703.95994832634),
    "gradient_norm": (9857.258639433454, 8132.7415239735465),
    "hessian_top_eigenvalue": (1938.5781624608685, 1554.1088287214625),
    "hessian_trace": (4686.646142525334, 3069.5181156157696),
    "sam_sharpness": (6.314409361596015, 5.6359495991482085),
}

#: The largest eigenvalue of the block of the Hessian that belongs to kernels, by the same.
OF_KERNELS = 1911.6181544879341


@pytest.fixture(scope="module")
def vgg():
    return [vgg_like(normalized=normalized) for normalized in (True, False)], examples()


@pytest.mark.parametrize("name", OF_PEERS)
def test_the_values_of_peers_and_of_the_network_that_was_folded_by_hand(name, vgg):
    (model, by_hand), data = vgg
    measure = baselines.load(name)
    assert [measure(one, data) for one in (model, by_hand)] == pytest.approx(OF_PEERS[name], rel=1e-4)
    if "folded" in baselines.MEASURES[name].parameters:
        assert measure(model, data, folded=True) == pytest.approx(OF_PEERS[name][1], rel=1e-4)


def test_effective_dimensionality_is_that_of_kernels(vgg):
    (model, _), data = vgg
    values = leading_eigenvalues(Subject(model, data), 25, EXAMPLES, 0)
    assert values[0] == pytest.approx(OF_KERNELS, rel=1e-4)


class _Saw(Exception):
    """Raised with the form of the weights that a measure reads."""

    @classmethod
    def when_read(cls, form):
        def look(_self):
            raise cls(form)

        return property(look)


def seen_by(name, written):
    """Return the form in which a measure reads the weights, or None if it reads no weights."""
    try:
        baselines.load(name)(written.model, written.data.take(24))
    except _Saw as seen:
        return seen.args[0]
    except baselines.MeasureUnavailable:
        return None
    return FORMS[name] if name in OF_SOME_ARRAYS else None


def test_pages_say_what_measures_look_at(monkeypatch):
    monkeypatch.setattr(Subject, "folded", _Saw.when_read(Form.FOLDED))
    monkeypatch.setattr(Network, "trained_nodes", _Saw.when_read(Form.TRAINED))
    written = KINDS["batch_norm_folded"]()
    of_weights = [m.name for m in baselines.MEASURES.values() if m.family not in ("perturbation response", "control")]
    found = {name: form for name in of_weights if (form := seen_by(name, written)) is not None}
    assert found == FORMS
