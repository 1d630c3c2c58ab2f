"""Tests of the form in which measures see a network: as it was trained, or with its normalization folded."""

import pytest
import vgg_like
from kinds import KINDS

import baselines
from baselines.core.needs import Form
from baselines.core.subject import Subject
from baselines.network import Network
from baselines.sharpness.hessian import leading_eigenvalues

pytestmark = pytest.mark.rest

#: Forms on the pages of measures.
FORMS = {name: measure.weights for name, measure in baselines.MEASURES.items() if measure.weights is not None}

#: Measures of the network as it was trained that do not need all parameters: of unchanged arrays, or a single kernel.
OF_SOME_ARRAYS = {"distance_from_init", "relative_flatness"}

#: Have the folded form as a parameter.
WITH_BOTH = ("fisher_trace", "hessian_top_eigenvalue", "hessian_trace", "log_fisher_trace", "sam_sharpness")

#: Whole Hessians and gradients of `vgg_like.network()` by automatic differentiation of PyTorch 2.13.0 in float64 in
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
    return [vgg_like.network(normalized=normalized) for normalized in (True, False)], vgg_like.data()


@pytest.mark.parametrize("name", OF_PEERS)
def test_the_values_of_peers(name, vgg):
    models, data = vgg
    found = [baselines.load(name)(model, data) for model in models]
    assert found == pytest.approx(OF_PEERS[name], rel=1e-4)


def test_effective_dimensionality_is_that_of_kernels(vgg):
    (model, _), data = vgg
    values = leading_eigenvalues(Subject(model, data), 25, vgg_like.EXAMPLES, 0)
    assert values[0] == pytest.approx(OF_KERNELS, rel=1e-4)


@pytest.mark.parametrize("name", WITH_BOTH)
def test_the_folded_form_is_that_of_the_network_that_was_folded_by_hand(name, vgg):
    (model, by_hand), data = vgg
    measure = baselines.load(name)
    assert measure(model, data, folded=True) == pytest.approx(measure(by_hand, data), rel=1e-4)
    assert measure(model, data) != pytest.approx(measure(by_hand, data), rel=1e-2)


class _SawFolded(Exception):
    pass


class _SawTrained(Exception):
    pass


@pytest.fixture
def watched(monkeypatch):
    """Make the folded network, and all parameters of the trained network, raise an error when a measure reads them."""

    def stop(error):
        def look(_self):
            raise error

        return property(look)

    monkeypatch.setattr(Subject, "folded", stop(_SawFolded))
    monkeypatch.setattr(Network, "trained_nodes", stop(_SawTrained))


def seen_by(name, written):
    """Return the form in which a measure reads the weights, or None if it reads no weights."""
    try:
        baselines.load(name)(written.model, written.data.take(24))
    except _SawFolded:
        return Form.FOLDED
    except _SawTrained:
        return Form.TRAINED
    except baselines.MeasureUnavailable:
        return None
    return FORMS[name] if name in OF_SOME_ARRAYS else None


@pytest.mark.usefixtures("watched")
def test_pages_say_what_measures_look_at():
    written = KINDS["batch_norm_folded"]()
    of_weights = [m.name for m in baselines.MEASURES.values() if m.family not in ("perturbation response", "control")]
    found = {name: form for name in of_weights if (form := seen_by(name, written)) is not None}
    assert found == FORMS
