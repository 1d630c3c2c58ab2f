"""The cost of a measure is what it does: passes over the examples, and gradients."""

import re

import pytest
import tensorflow as tf
from measure_values import DEMO, N_EXAMPLES, read_dataset, read_model

import baselines
from baselines.network import Network

MODEL, N_CLASSES = "model_21", 10

#: Forward passes over their sample that cheap measures make at most.
FEW = 3

#: One measure of each module and each work: the others of a module differ in what they make of the same passes. Those
#: of layers as operators also pass vectors through a single layer, which are no examples.
CHEAP = {
    (one.function.__module__, one.work): name
    for name, one in baselines.MEASURES.items()
    if one.is_cheap and not name.endswith("_op")
}.values()


@pytest.fixture(scope="module")
def subject():
    return read_model(DEMO / MODEL), read_dataset(DEMO / "dataset_1" / "train")


@pytest.fixture
def passed(monkeypatch):
    """The number of examples of each batch that a network is given."""
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


@pytest.mark.parametrize("measure", baselines.MEASURES.values(), ids=lambda measure: measure.name)
def test_the_cost_agrees_with_the_work_and_the_needs(measure):
    forward, backward = (re.search(rf"\b{letter}\b", measure.work) is not None for letter in "FB")
    takes_gradients = baselines.Need.GRADIENTS in measure.needs
    assert takes_gradients == backward
    assert {
        "weights": not forward and not backward,
        "forward": forward and not backward,
        "gradients": backward,
        "many": forward or backward,
    }[measure.cost]
