"""Tests that measures called together do each piece of work once, and of bounds on the memory for it."""

import functools
import hashlib
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense, layers, sequential, value

import baselines
from baselines.compression import pruning
from baselines.core import memory
from baselines.core import subject as subjects
from baselines.core.bisection import bisect
from baselines.core.retained import Retained, arrays_of
from baselines.core.subject import Subject, subject_of
from baselines.network import Network
from baselines.sharpness import box, scales
from baselines.sharpness.search import largest_harmless


def network():
    tf.keras.utils.set_random_seed(3)
    front = [layers.Conv2D(4, 3, 2, "same", use_bias=False), layers.BatchNormalization(), layers.ReLU()]
    front.append(layers.DepthwiseConv2D(3, padding="same", activation="relu"))
    model = sequential((7, 7, 3), *front, layers.Flatten(), layers.Dense(40, "relu"), layers.Dense(3))
    model.initial_weights = model.get_weights()
    rng = np.random.default_rng(4)
    for weight in model.weights:
        noise = rng.normal(0, 0.3, weight.shape)
        weight.assign_add(np.abs(noise) if "variance" in weight.path else noise)
    return model


@pytest.fixture
def work(monkeypatch):
    counts = Counter()
    monkeypatch.setattr(Network, "compiled", counting_passes(Network.compiled, counts))
    for name, of_one_matrix in (("eigvalsh", np.linalg.eigvalsh), ("svd", np.linalg.svd)):
        monkeypatch.setattr(np.linalg, name, counting_spectra(name, of_one_matrix, counts))
    monkeypatch.setattr(pruning, "bisect", counting_searches(bisect, counts))
    for module in (box, scales):
        monkeypatch.setattr(module, "largest_harmless", counting_searches(largest_harmless, counts))
    rng = np.random.default_rng(5)
    images, model = rng.uniform(size=(90, 7, 7, 3)).astype(np.float32), network()
    model.layers[-1].bias.assign_sub(model(images).numpy().mean(axis=0))  # or one class would be predicted for all
    data = dataset(images, model(images).numpy().argmax(axis=1))  # all predictions are right
    with baselines.sharing():
        for name in baselines.MEASURES:
            tf.keras.utils.set_random_seed(0)
            assert np.isfinite(baselines.load(name)(model, data))
    return counts


def counting_passes(compiled, counts):
    """Return a version of `Network.compiled` that counts calls: as passes, or as steps with changed weights."""

    def counting(self, key, function, *specs, **options):
        run = compiled(self, key, function, *specs, **options)
        kinds = [(node.kind, node.sources) for node in self.nodes]
        nodes = [self.nodes[place] for place in self.trained_nodes]
        trained = digest(*[np.float32(array) for node in nodes for array in node.weights[: node.n_trained]])

        @functools.wraps(function)
        def counted(*arguments):
            name = key[0] if isinstance(key, tuple) else getattr(key, "__name__", key)
            weights = digest(*self.variables)
            what = "pass" if weights == trained else "step"
            counts[what, name, str(key), str(kinds), weights, digest(*arguments)] += 1
            return run(*arguments)

        return counted

    return counting


def counting_spectra(name, compute, counts):
    def counted(matrix, *arguments, **options):
        counts["spectrum", name, digest(matrix)] += 1
        return compute(matrix, *arguments, **options)

    return counted


def counting_searches(search, counts):
    def counted(*arguments, **options):
        counts["search", search.__name__, str(arguments[1:])] += 1
        return search(*arguments, **options)

    return counted


def digest(*arrays):
    found = hashlib.sha256()
    for array in map(np.asarray, arrays):
        found.update(f"{array.shape} {array.dtype} ".encode() + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


#: Computations with gradients, and their numbers on the 90 examples, which are a single batch.
GRADIENTS = {
    "per example": 1,  # of weights: gradient, Fisher trace, Fisher-Rao norm
    "input gradients": 1,
    "input Jacobians": 1,
    "layer margins": 1,
    # Where training ended: with two losses, and of the first batches of two chains. Seven calls leave there: three
    # second steps, the first steps of three ascents, and the step of a descent.
    "gradient at": 2 + 2 + 7,
}


@pytest.mark.rest
def test_no_work_is_done_twice_and_each_gradient_spectrum_and_search_is_made_once(work):
    """There are two exceptions. The function for changed weights also computes the logits, so that last bits are
    equal. WeightWatcher's measures read the kernels before folding, and folding may leave a kernel as it is.

    Ten spectra are of trained kernels and of their changes: four kernels as matrices, and one by frequency. One
    spectrum is of the other convolution, by place in its window. Two are of the last hidden representation, centred
    and not centred. Two layers are large enough for WeightWatcher's spectrum and for five spectra of shuffled weights.

    Pruning, sigma and sigma' need a search each; alpha, alpha' and the starting kit's sharpness need three each.
    """
    repeated = {key[:2]: count for key, count in work.items() if key[0] in ("pass", "spectrum") and count > 1}
    assert repeated == {("pass", "outputs"): 2, ("spectrum", "eigvalsh"): 2}
    made = Counter()
    for (kind, name, *_), count in work.items():
        made[kind, name] += count
    assert {name: made["pass", name] for name in GRADIENTS} == GRADIENTS
    assert made["spectrum", "eigvalsh"] == 10 + 3 + 2 * (5 + 1)
    searches = {name: count for (kind, name), count in made.items() if kind == "search"}
    assert searches == {"bisect": 1, "largest_harmless": 2 + 3 * 3}


def test_what_is_not_normalized_needs_no_folding_and_one_search():
    model, data = dense([[2.0, 1.0]]), dataset(np.ones((4, 1)), np.zeros(4))
    with baselines.sharing():
        subject = subject_of(model, data)
        assert subject.folded is subject.network
        kit, flatness = (value(name, model, data) for name in ("sharpness_starter_kit", "sharpness_mag_flatness"))
        assert [key[0].__name__ for key in subject.found].count("box_scale") == 1
    assert kit == pytest.approx(-(flatness**-0.5))


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
    monkeypatch.setattr(memory, "memory_left", lambda: 1_500_000_000)
    with pytest.raises(baselines.MeasureUnavailable, match=r"^needs 2.5 GB of memory for it, and 1.5 GB are left: no$"):
        memory.require_memory(2_500_000_000, "it", "no")


KILO = np.zeros(128)  # of 1024 bytes


def kept(retained, keys):
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
