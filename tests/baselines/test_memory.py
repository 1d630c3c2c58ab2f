"""Tests of measures that need more memory than a call has: they say so before they start."""

import re

import pytest

import baselines
from baselines.core import memory
from baselines.network import Network

#: Measures that run examples at once, or keep whole layers, with their advice; there are 64 examples.
REFUSING = {
    "adaptive_sharpness_worst_linf": "64 examples at once.* try a smaller batch",
    "adaptive_sharpness_avg": "64 examples at once.* try a smaller batch",
    "local_learning_coefficient": "64 examples at once.* try a smaller batch",
    "pacbayes_optimized": "64 examples at once.* try a smaller batch",
    "sharpness_flatness": "64 examples at once.* give calls more memory",
    "sharpness_starter_kit": "64 examples at once.* give calls more memory",
    "gradient_confusion": "64 examples at once.* try a smaller n_samples",
    "ntk_complexity": "64 examples at once.* try a smaller n_samples",
    "linear_regions_met": "33 examples at once.* try a smaller n_steps",
    "intrinsic_dimension_peak": "what 64 examples are in a layer.* try a smaller n_samples",
    "effective_dimensionality": "25 vectors of [0-9,]+ weights.* try a smaller n_steps",
    "wcv": "what 64 examples are in . layers.* try a smaller per_class",
    "kv_margin": "a class in the layer.* try a smaller per_class",
    "layer_margin_winner": "what 64 examples are in the first layer.* try a smaller n_samples",
}


@pytest.mark.rest
@pytest.mark.parametrize("name", REFUSING)
def test_a_measure_refuses_before_it_starts_with_what_it_needs(name, subject, monkeypatch):
    monkeypatch.setenv(memory.LIMIT, "1000")  # the process has more already
    monkeypatch.setattr(Network, "in_batches", None)
    with pytest.raises(baselines.MeasureUnavailable) as refused:
        baselines.load(name)(*subject)
    assert re.search(f"^needs .* GB of memory for .*{REFUSING[name]}", str(refused.value))


def test_what_is_left_of_a_limit_or_of_the_machine(monkeypatch):
    monkeypatch.setenv(memory.LIMIT, str(2**40))
    assert 2**40 - 2**36 < memory.memory_left() < 2**40
    monkeypatch.setenv(memory.LIMIT, "1000")
    assert memory.memory_left() == 0
    monkeypatch.delenv(memory.LIMIT, raising=False)
    assert memory.memory_left() > 0
    monkeypatch.setattr(memory, "_read", lambda _: "")
    assert memory.memory_left() is None
    memory.require_memory(2**60, "anything", "give up")
