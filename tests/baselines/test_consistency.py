"""Tests of consistency: penalties for predictions that change with the image, and the Davies-Bouldin index."""

import hypothesis.strategies as st
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from matrix import rest
from scipy.ndimage import sobel
from scipy.special import softmax
from sklearn.metrics import davies_bouldin_score
from small_networks import dataset, dense, gaussian, images, layers, sequential

import baselines
from baselines.consistency.augmentation_robustness import PENALTIES, changed, draw_rectangles, saturate
from baselines.consistency.davies_bouldin import index
from baselines.core.streams import stream, stream_seed
from baselines.core.subject import Subject

augmentation_robustness_penalty = baselines.load("augmentation_robustness_penalty")
SHAPES = [(8, 8, 1), (32, 32, 3), (9, 14, 4), (12, 7, 3), (2, 2, 1)]
FLIPPED, SATURATED, CROPPED, EDGES, BRIGHTER, BOTH, ERASED = range(7)
PENALTY = (6, 1, 2, 3, 1, 12, 2)


def two_layers(shape, *end):
    return gaussian(sequential(shape, layers.Conv2D(4, 2), layers.ReLU(), layers.Flatten(), layers.Dense(3), *end))


def changes(batch, seed=0):
    """The seven changes of images, with the saturations and rectangles that the measure draws."""
    draw = stream("augmentation robustness", seed)
    saturations = draw.uniform(0.6, 1.6, (2, len(batch))).astype(np.float32)
    rectangles = draw_rectangles(len(batch), *batch.shape[1:3], draw)
    return [new.numpy() for new in changed(tf.constant(batch), saturations, rectangles)], saturations, rectangles


@pytest.mark.parametrize("shape", SHAPES)
def test_changes_of_images(shape):
    batch = images(6, *shape)
    found, saturations, rectangles = changes(batch)
    assert [new.shape for new in found] == [batch.shape] * len(PENALTIES)
    assert np.array_equal(found[FLIPPED], batch[:, :, ::-1])
    assert found[BRIGHTER] == pytest.approx(batch + 0.5)
    for channel in range(shape[-1]):
        edges = np.stack([sobel(image[..., channel], axis=1, mode="mirror") for image in batch]) / 4 + 0.5
        assert found[EDGES][..., channel] == pytest.approx(edges, abs=1e-5)
    assert found[SATURATED] == pytest.approx(np.asarray(saturate(batch, saturations[0])))
    assert found[BOTH] == pytest.approx(np.asarray(saturate(batch[:, :, ::-1], saturations[1])))
    expected = batch.copy()
    for new, (top, left, bottom, right) in zip(expected, rectangles, strict=True):
        new[top:bottom, left:right] = 0
    assert np.array_equal(found[ERASED], expected)


@pytest.mark.parametrize("shape", [(10, 5, 5, 3), (10, 6, 4, 4), (10, 3, 3, 1)])
def test_saturation_is_that_of_tensorflow(shape):
    batch = images(*shape)
    batch[0], batch[1, 0, 0] = 0, 0.5  # black and grey
    factors = np.linspace(0, 4, 10, dtype=np.float32)
    expected = batch.copy()
    for i in range(10 if shape[-1] >= 3 else 0):
        expected[i, ..., :3] = tf.image.adjust_saturation(batch[i, ..., :3], factors[i]).numpy()
    assert saturate(tf.constant(batch), factors).numpy() == pytest.approx(expected, abs=1e-5)


def test_the_centre_of_a_large_image_is_enlarged_and_a_small_image_has_no_margin():
    ramp = np.tile(np.arange(32, dtype=np.float32)[None, :, None, None] / 31, (1, 1, 32, 1))
    new = changes(ramp)[0][CROPPED]
    assert (new.min(), new.max()) == (pytest.approx(1 / 31), pytest.approx(30 / 31))
    assert np.all(np.diff(new[0, 1:-1, 5, 0]) > 0)
    small = images(3, 8, 8, 1)
    assert changes(small)[0][CROPPED] == pytest.approx(small)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 99))
@settings(max_examples=40)
def test_rectangles(height, width, seed):
    top, left, bottom, right = draw_rectangles(300, height, width, np.random.default_rng(seed)).T
    area = height * width
    low, high = np.round(np.sqrt([0.02 * area * 0.3, 0.4 * area / 0.3]))
    for start, end, side in ((top, bottom, height), (left, right, width)):
        size = end - start
        assert np.all((start >= 0) & (end <= side) & (size < side))
        assert size.min() >= min(low, side - 1)
        assert size.max() < max(min(high, side), 1)


def test_rectangles_are_uniform():
    rectangles = draw_rectangles(40_000, 8, 8, np.random.default_rng(0))
    sizes = rectangles[:, 2:] - rectangles[:, :2]
    assert np.bincount(sizes.ravel()) / 80_000 == pytest.approx([0, *[1 / 7] * 7], abs=0.01)
    tops = rectangles[sizes[:, 0] == 4, 0]
    assert np.bincount(tops) / len(tops) == pytest.approx([1 / 4] * 4, abs=0.02)


def penalties(before, after):
    """Return for each change (changes, n, classes) which share of its penalty each image pays, and the sum of all."""
    is_changed = before.argmax(axis=1) != after.argmax(axis=2)
    costs = np.where(is_changed, np.array(PENALTY)[:, None], np.abs(before.max(axis=1) - after.max(axis=2)))
    return is_changed, costs.sum()


@pytest.mark.parametrize("shape", SHAPES)
def test_penalty_of_a_network_and_of_one_with_one_answer(shape):
    batch, model = images(40, *shape), two_layers(shape)
    data = dataset(batch, np.zeros(40))
    sample = Subject(model, data).sample(30, 4)
    found, *_ = changes(sample.inputs, seed=4)
    before, *after = (softmax(model(new).numpy(), axis=1) for new in (sample.inputs, *found))
    is_changed, total = penalties(before, np.stack(after))
    assert augmentation_robustness_penalty(model, data, n_samples=30, seed=4) == pytest.approx(total / 30, abs=1e-4)
    assert shape != (12, 7, 3) or is_changed.any(axis=1)[[FLIPPED, EDGES, BOTH, ERASED]].all()
    model.layers[-1].set_weights([0 * model.layers[-1].get_weights()[0], np.array([0.0, 2.0, 1.0])])
    assert augmentation_robustness_penalty(model, data) == 0


def test_all_changes_together_cost_27():
    """The network predicts class 0 for the unchanged image alone: the logits are 0.01 and sum |x - image|."""
    image = np.zeros((1, 20, 20, 3), np.float32)
    image[:, :7] = [0.5, 0.2, 0.1]
    image[:, :, :3] = [0.1, 0.4, 0.8]
    one, distance = np.eye(image.size), np.ones(2 * image.size)
    kernels = np.concatenate([one, -one], axis=1), np.stack([0 * distance, distance], axis=1)
    biases = np.concatenate([-image.ravel(), image.ravel()]), np.array([0.01, 0])
    model = sequential((20, 20, 3), layers.Flatten(), layers.Dense(2 * image.size, "relu"), layers.Dense(2))
    model.set_weights([kernels[0], biases[0], kernels[1], biases[1]])
    assert [measure(model, dataset(image, [0])) for measure in (augmentation_robustness_penalty, runner_up)] == [27, 27]


def test_labels_and_a_softmax_at_the_end_do_not_matter_but_the_seed_does():
    batch, model, ending = images(30, 8, 8, 3), two_layers((8, 8, 3)), two_layers((8, 8, 3), layers.Softmax())
    expected, *others = (
        augmentation_robustness_penalty(network, dataset(batch, np.full(30, label)))
        for network, label in ((model, 0), (model, 1), (ending, 0))
    )
    assert 0 < expected < 27
    assert others == [expected, expected]
    assert augmentation_robustness_penalty(model, dataset(batch, np.zeros(30)), seed=1) != expected


runner_up = baselines.load("augmentation_robustness_runner_up")


def by_image(model, batch, size, n_batches, seed):
    """Compute the measure image by image, with the same draws: a rectangle for each image, factors for each batch."""
    batch = batch[: size * n_batches]
    draw = stream("runner-up", seed)
    factors = draw.uniform(0.6, 1.6, (2, -(-len(batch) // size)))
    rectangles = draw_rectangles(len(batch), *batch.shape[1:3], draw)
    total = 0.0
    for number, (image, rectangle) in enumerate(zip(batch, rectangles, strict=True)):
        own = factors[:, [number // size]].astype(np.float32)
        versions = [image[None], *changed(tf.constant(image[None]), own, rectangle[None])]
        before, *after = (softmax(model(version).numpy().astype(float), axis=1) for version in versions)
        total += penalties(before, np.stack(after))[1]
    return total


@pytest.mark.parametrize(("size", "n_batches"), [(8, 2), rest(8, 201), rest(64, 1)])
def test_the_runner_up_image_by_image(size, n_batches):
    model, batch = two_layers((8, 8, 3)), images(30, 8, 8, 3)
    found = runner_up(model, dataset(batch, np.zeros(30)), batch=size, n_batches=n_batches, seed=3)
    assert found == pytest.approx(by_image(model, batch, size, n_batches, 3), rel=1e-5)
    assert found > 0


davies_bouldin_index = baselines.load("davies_bouldin_index")


def clusters(n=40, dim=6, classes=4, seed=0):
    draw = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    return draw.normal(size=(classes, dim))[labels] + draw.normal(size=(n, dim)), labels


def conv(*first, shape=(8, 8, 1), n_classes=3):
    return gaussian(sequential(shape, *first, layers.Flatten(), layers.Dense(n_classes)), 1)


def output(model, number, inputs):
    return tf.keras.Model(model.inputs[0], model.layers[number].output)(inputs).numpy()


def pooled(features, pool):
    n, height, width, channels = features.shape
    cut = features[:, : height // pool * pool, : width // pool * pool]
    return cut.reshape(n, height // pool, pool, width // pool, pool, channels).max(axis=(2, 4))


@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 5))
@settings(max_examples=50)
def test_as_in_scikit_learn(seed, classes, dim):
    points, _ = clusters(30, dim, classes, seed)
    labels = np.random.default_rng(seed).integers(3, 3 + classes, 30)
    if len(np.unique(labels)) > 1:
        assert index(points, labels) == pytest.approx(davies_bouldin_score(points, labels))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_limits(scale):
    corners, labels = scale * np.array([[0.0, 0.1], [3.0, 0.2], [0.3, 3.0]]), np.arange(9) % 3
    assert index(corners[labels], labels) == 0  # single points
    assert index(np.full((9, 2), 0.1 * scale), labels) == 0
    cross = scale * (np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]) + 0.1)
    assert index(cross, np.array([0, 0, 1, 1])) == 0  # equal centroids
    # Two of three in one place: only pairs with the third count.
    points = np.concatenate([cross, cross[:2] + 4 * scale])
    assert index(points, np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(2 / (4 * np.sqrt(2)))


SAME = {"padding": "same", "activation": "relu"}


@pytest.mark.parametrize(
    ("layer", "shape", "pooling"),
    [
        (layers.Conv2D(2, 3, **SAME), (8, 8, 1), lambda z: pooled(z, 4)),
        (layers.Conv2D(2, 3, **SAME), (9, 13, 2), lambda z: pooled(z, 4)),
        (layers.Conv2D(2, 3, **SAME), (32, 32, 3), lambda z: pooled(z, 4)),
        (layers.Conv2D(2, 3), (5, 9, 1), lambda z: z),  # smaller than a window
        (layers.Conv1D(2, 2), (9, 2), lambda z: z.reshape(60, 2, 4, 2).max(axis=2)),
    ],
)
def test_first_convolution_with_its_activation_and_the_maximum_over_windows(layer, shape, pooling):
    x, labels = images(60, *shape), np.arange(60) % 3
    model = conv(layer, shape=shape)
    expected = davies_bouldin_score(pooling(output(model, 0, x)).reshape(60, -1), labels)
    assert davies_bouldin_index(model, dataset(x, labels)) == pytest.approx(expected, rel=1e-4)


def test_mean_over_batches():
    x, labels = images(90, 8, 8, 1), np.arange(90) % 3
    model, data = conv(layers.Conv2D(2, 3)), dataset(x, labels)
    features = output(model, 0, x)
    points = {row.tobytes(): pooled(z[None], 4).ravel() for row, z in zip(x, features, strict=True)}
    seeds = [stream_seed("batches of davies_bouldin", 4, number) for number in range(3)]
    scores = []
    for seed in seeds:
        sample = Subject(model, data).sample(25, seed)
        scores.append(davies_bouldin_score(np.stack([points[row.tobytes()] for row in sample.inputs]), sample.labels))
    found = baselines.load("davies_bouldin_index:n_batches=3,batch=25,seed=4")(model, data)
    assert found == pytest.approx(np.mean(scores), rel=1e-4)
    assert len(set(scores)) == 3


@pytest.mark.parametrize(
    ("first", "number"),
    [
        ([layers.MaxPooling2D(2), layers.Conv2D(2, 3)], 1),  # pooled pixels are pixels
        ([layers.Rescaling(3.0), layers.Conv2D(2, 3), layers.BatchNormalization(), layers.ReLU()], 1),
        ([layers.Rescaling(2.0), layers.ReLU(), layers.Activation("tanh"), layers.Conv2D(2, 3)], 3),
        ([layers.Conv2D(2, 3, activation="relu"), layers.Conv2D(2, 3)], 0),
    ],
)
def test_initial_layer(first, number):
    x, labels = images(60, 8, 8, 1), np.arange(60) % 3
    model, data = conv(*first), dataset(x, labels)
    expected = davies_bouldin_score(pooled(output(model, number, x), 2).reshape(60, -1), labels)
    for layer in ("initial", str(number)):
        assert davies_bouldin_index(model, data, pool=2, layer=layer) == pytest.approx(expected, rel=1e-4)


def test_another_layer():
    x, labels = images(60, 8, 8, 1), np.arange(60) % 3
    model = conv(layers.Conv2D(2, 3))
    expected = davies_bouldin_score(model(x).numpy(), labels)
    assert davies_bouldin_index(model, dataset(x, labels), layer="2") == pytest.approx(expected, rel=1e-4)


def test_dense_networks_are_looked_at_behind_their_first_activation():
    x, labels = clusters(classes=2)
    model = dense(np.eye(6), np.ones((6, 2)))
    expected = davies_bouldin_score(np.maximum(x, 0), labels)
    assert davies_bouldin_index(model, dataset(x, labels)) == pytest.approx(expected, rel=1e-4)
    x, labels = images(60, 8, 8, 1), np.arange(60) % 3
    model = conv(layers.Flatten(), layers.Dense(5), layers.BatchNormalization(), layers.ReLU())
    model.layers[2].set_weights([np.full(5, 2.0), np.full(5, 0.5), np.zeros(5), np.full(5, 4.0)])
    expected = davies_bouldin_score(output(model, 3, x), labels)
    data = dataset(x, labels)
    assert davies_bouldin_index(model, data) == pytest.approx(expected, rel=1e-4)
    assert davies_bouldin_index(model, data, layer="0") != pytest.approx(expected, rel=1e-2)


def test_batches_with_few_examples_of_a_class():
    x, labels = images(200, 8, 8, 1), np.arange(200) % 20
    model, data = conv(layers.Conv2D(2, 3), n_classes=20), dataset(x, labels)
    found = [davies_bouldin_index(model, data, batch=10, stratified=flag) for flag in (False, True)]
    assert 0 <= found[0] < found[1]
    alone = dataset(x[:20], np.arange(20))
    assert davies_bouldin_index(model, alone) == 0
    x, labels = images(40, 8, 8, 1), np.array([0] * 39 + [1])
    model, data = conv(layers.Conv2D(2, 3)), dataset(x, labels)
    assert davies_bouldin_index(model, data, batch=10, n_batches=40) > 0
