"""Tests that measures of one network, called together, do each piece of work once."""

import functools
import hashlib
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense, layers, sequential, value

import baselines
from baselines.compression import pruning
from baselines.core.bisection import bisect
from baselines.core.subject import subject_of
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


@pytest.fixture(scope="module")
def work():
    """Return how often all measures together made each pass, spectrum and search on one network."""
    counts, patch = Counter(), pytest.MonkeyPatch()
    patch.setattr(Network, "compiled", counting_passes(Network.compiled, counts))
    for name, of_one_matrix in (("eigvalsh", np.linalg.eigvalsh), ("svd", np.linalg.svd)):
        patch.setattr(np.linalg, name, counting_spectra(name, of_one_matrix, counts))
    patch.setattr(pruning, "bisect", counting_searches(bisect, counts))
    for module in (box, scales):
        patch.setattr(module, "largest_harmless", counting_searches(largest_harmless, counts))
    rng = np.random.default_rng(5)
    images, model = rng.uniform(size=(90, 7, 7, 3)).astype(np.float32), network()
    model.layers[-1].bias.assign_sub(model(images).numpy().mean(axis=0))  # or one class would be predicted for all
    data = dataset(images, model(images).numpy().argmax(axis=1))  # all predictions are right
    with patch.context(), baselines.sharing():
        for name in baselines.MEASURES:
            tf.keras.utils.set_random_seed(0)
            assert np.isfinite(baselines.load(name)(model, data))
    patch.undo()
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
@pytest.mark.parametrize("kind", ["pass", "spectrum"])
def test_no_work_is_done_twice(kind, work):
    """There are two exceptions. The function for changed weights also computes the logits, so that last bits are
    equal. WeightWatcher's measures read the kernels before folding, and folding may leave a kernel as it is.
    """
    repeated = {key[:2]: count for key, count in work.items() if key[0] == kind and count > 1}
    assert repeated == ({("pass", "outputs"): 2} if kind == "pass" else {("spectrum", "eigvalsh"): 2})


@pytest.mark.rest
@pytest.mark.parametrize("name", GRADIENTS)
def test_each_gradient_is_computed_once(name, work):
    assert sum(count for key, count in work.items() if key[:2] == ("pass", name)) == GRADIENTS[name]


@pytest.mark.rest
def test_each_spectrum_is_computed_once(work):
    """Ten spectra are of trained kernels and of their changes: four kernels as matrices, and one by frequency.

    One spectrum is of the other convolution, by place in its window. Two are of the last hidden representation, centred
    and not centred. Two layers are large enough for WeightWatcher's spectrum and for five spectra of shuffled weights.
    """
    assert sum(count for key, count in work.items() if key[:2] == ("spectrum", "eigvalsh")) == 10 + 3 + 2 * (5 + 1)


def test_what_is_not_normalized_needs_no_folding_and_one_search():
    model, data = dense([[2.0, 1.0]]), dataset(np.ones((4, 1)), np.zeros(4))
    with baselines.sharing():
        subject = subject_of(model, data)
        assert subject.folded is subject.network
        kit, flatness = (value(name, model, data) for name in ("sharpness_starter_kit", "sharpness_mag_flatness"))
        assert [key[0].__name__ for key in subject.found].count("box_scale") == 1
    assert kit == pytest.approx(-(flatness**-0.5))


@pytest.mark.rest
def test_each_search_is_made_once(work):
    """Pruning, sigma and sigma' need a search each; alpha, alpha' and the starting kit's sharpness need three each."""
    searches = Counter()
    for key, count in work.items():
        if key[0] == "search":
            searches[key[1]] += count
    assert searches == {"bisect": 1, "largest_harmless": 2 + 3 * 3}
