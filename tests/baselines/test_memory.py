"""Tests of memory: shared results have a bounded size, and a measure that needs too much refuses before it starts."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense

import baselines
from baselines.core import memory
from baselines.core import subject as subjects
from baselines.core.retained import Retained, arrays_of
from baselines.core.subject import Subject
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


KILO = np.zeros(128)  # of 1024 bytes


def kept(retained, keys):
    """Return the keys of the results in the cache."""
    there = []
    for key in keys:
        computed = []
        retained.get(key, lambda computed=computed: computed.append(1))
        there += [] if computed else [key]
    return there


def test_the_least_recently_used_and_the_too_large_are_not_kept():
    retained = Retained(3 * 1024)
    for key in "abc":
        retained.get(key, KILO.copy)
    retained.get("a", pytest.fail)
    retained.get("d", KILO.copy)
    assert retained.nbytes == 3 * 1024
    assert kept(retained, "acdb") == ["a", "c", "d"]
    retained = Retained(1024)
    retained.get("small", lambda: np.zeros(2))
    assert retained.get("large", lambda: np.ones(1024)).sum() == 1024
    assert (retained.nbytes, len(retained)) == (0, 0)
    assert Subject(None, None).found._limit == subjects.RETAINED_BYTES == 256 * 2**20


def test_an_array_of_several_results_counts_once():
    retained, array = Retained(2 * 1024), KILO.copy()
    for key in range(5):
        retained.get(key, lambda key=key: (key, array))
    assert (retained.nbytes, len(retained)) == (1024, 5)
    retained.get("more", lambda: [KILO.copy(), array])
    assert (retained.nbytes, len(retained)) == (2 * 1024, 6)
    retained.get("most", lambda: np.zeros(256))
    assert (retained.nbytes, kept(retained, [*range(5), "more", "most"])) == (2 * 1024, ["most"])


@dataclass
class Parts:
    first: np.ndarray
    second: tuple[np.ndarray, list[np.ndarray]]
    name: str = "text"


def test_arrays_are_found_in_tuples_lists_and_dataclasses():
    arrays = [np.zeros(size) for size in (1, 2, 3)]
    found = list(arrays_of((Parts(arrays[0], (arrays[1], [arrays[2]])), 5, None, {"a": 1}, np.float64(1))))
    assert [nbytes for _, nbytes in found] == [8, 16, 24, 8]
    assert [identity for identity, _ in found[:3]] == list(map(id, arrays))


#: They draw samples of different sizes, keep logits, activities and points of the weights.
MEASURES = ("inverse_margin", "cna", "fisher_trace", "sam_sharpness", "pacbayes_flatness", "noise_sensitivity")


@pytest.mark.rest
def test_values_do_not_depend_on_the_bound_and_the_bound_holds(monkeypatch):
    rng = np.random.default_rng(0)
    images = rng.normal(size=(3000, 20))
    data = dataset(images, images[:, :3].argmax(axis=1))
    model = dense(*(rng.normal(size=shape) for shape in [(20, 8), (8, 6), (6, 3)]))

    def values():
        found, sizes = [], []
        with baselines.sharing():
            for name in [*MEASURES, *MEASURES]:
                tf.keras.utils.set_random_seed(0)
                found.append(baselines.load(name)(model, data))
                sizes.append(subjects.subject_of(model, data).found.nbytes)
        return found, max(sizes)

    free, most = values()
    assert free[: len(MEASURES)] == free[len(MEASURES) :]
    monkeypatch.setattr(subjects, "RETAINED_BYTES", 100_000)
    bounded, largest = values()
    assert bounded == free
    assert largest <= 100_000 < most
