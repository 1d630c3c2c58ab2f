"""Tests of the work that measures declare for forecasts: it can be parsed, and equals the work that is done."""

import pytest
import tensorflow as tf
from measure_values import N_EXAMPLES

import baselines
from baselines.core.work import Passes, Sizes, passes_of
from baselines.network import Network

pytestmark = pytest.mark.rest

N_CLASSES = 10

#: Forward passes over their sample that cheap measures make at most.
FEW = 3

#: A measure for each module and each work: others of a module make the same passes. Measures
#: of layers as operators also pass vectors through a single layer, which are no examples.
CHEAP = {
    (one.function.__module__, one.work): name
    for name, one in baselines.MEASURES.items()
    if one.is_cheap and not name.endswith("_op")
}.values()


@pytest.fixture
def passed(monkeypatch):
    """Return a list to which the network appends the number of examples of each batch that it evaluates."""
    found, compiled = [], Network.compiled

    def counting(network, key, function, *specs, **options):
        run = compiled(network, key, function, *specs, **options)

        def counted(*arguments):
            found.append(len(arguments[0]))
            return run(*arguments)

        return counted

    monkeypatch.setattr(Network, "compiled", counting)
    return found


@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_measure_makes_few_forward_passes_and_takes_no_gradient(name, subject, passed, monkeypatch):
    measure = baselines.MEASURES[name]
    monkeypatch.setattr(tf, "GradientTape", None)
    measure.function(*subject)
    if measure.cost == "weights":
        assert sum(passed) <= 1  # norms of paths pass ones through the network
        return
    passes = measure.passes(baselines.Sizes(kappa=N_CLASSES, d=4, m=N_EXAMPLES))
    assert 0 < sum(passed) <= passes.forward


def test_the_others_make_more_or_take_gradients(subject, passed):
    baselines.load("pr_mean_error_intra_l0")(*subject)
    assert sum(passed) > FEW * N_EXAMPLES
    assert baselines.MEASURES["pr_mean_error_intra_l0"].cost == "many"


SIZES = Sizes(kappa=10, d=8, m=50_000)


@pytest.mark.parametrize("measure", baselines.MEASURES.values(), ids=lambda measure: measure.name)
def test_the_cost_agrees_with_the_passes_and_the_needs(measure):
    n_passes = sum(measure.passes(SIZES))
    takes_gradients = "backward pass" in measure.work  # of some networks, it may be
    assert takes_gradients == (baselines.Need.GRADIENTS in measure.needs)
    assert {
        "weights": n_passes == 0 and not takes_gradients,
        "forward": n_passes > 0 and not takes_gradients,
        "gradients": n_passes > 0 and takes_gradients,
        "many": n_passes > 0,
    }[measure.cost]


@pytest.mark.parametrize(
    ("work", "n_samples", "passes"),
    [
        ("none", None, (0, 0)),
        ("SVD at every frequency", None, (0, 0)),
        ("SVD and 1 forward pass", 10_000, (10_000, 0)),
        ("3 forward passes", None, (150_000, 0)),
        ("1 forward pass", 100_000, (50_000, 0)),
        (
            "1 forward pass over 450 x kappa mixtures, and 1 forward pass over 1200 examples up to a layer",
            None,
            (5_700, 0),
        ),
        ("1 forward pass over max(m / 10, 2048) examples", None, (5_000, 0)),
        ("8 forward passes over min(m, 12,864) examples", None, (102_912, 0)),
        ("1 backward pass + min(kappa, 10) backward passes", 2048, (0, 22_528)),
        ("min(kappa, 20) backward passes; not piecewise linear: 20 x 3 backward passes", 2048, (0, 20_480)),
        ("25 x 3 backward passes", 2048, (0, 153_600)),
        ("2 forward passes, and 2.75 x d backward passes over 256 examples", 10_000, (20_000, 5_632)),
        ("about 5 forward passes, up to 17", 10_000, (50_000, 0)),
        ("1 forward pass, and for each class a backward pass through the layers behind it alone", 2048, (2_048, 0)),
    ],
)
def test_passes_that_are_read_from_a_text(work, n_samples, passes):
    assert passes_of(work, n_samples, SIZES) == Passes(*passes)
