"""Tests of penalties for predictions that change when images are changed as in data augmentation."""

import hypothesis.strategies as st
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from matrix import rest
from scipy.ndimage import sobel
from scipy.special import softmax
from small_networks import dataset, gaussian, images, layers, sequential

import baselines
from baselines.consistency.augmentation_robustness import PENALTIES, changed, draw_rectangles, erase, saturate
from baselines.core.streams import stream
from baselines.core.subject import Subject

augmentation_robustness_penalty = baselines.load("augmentation_robustness_penalty")
SHAPES = [(8, 8, 1), (32, 32, 3), (9, 14, 4), (12, 7, 3), (2, 2, 1)]
FLIPPED, SATURATED, CROPPED, EDGES, BRIGHTER, BOTH, ERASED = range(7)


def conv(shape, classes=3, seed=0, end=()):
    parts = [layers.Conv2D(4, 2), layers.ReLU(), layers.Flatten(), layers.Dense(classes), *end]
    return gaussian(sequential(shape, *parts), seed)


def linear(kernel, bias=0):
    *shape, classes = np.shape(kernel)
    model = sequential(shape, layers.Flatten(), layers.Dense(classes))
    model.set_weights([np.reshape(kernel, (-1, classes)), np.zeros(classes) + bias])
    return model


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


def test_an_empty_rectangle_erases_nothing():
    batch = images(2, 4, 4, 1)
    assert np.array_equal(erase(tf.constant(batch), tf.constant([[1, 1, 1, 3], [2, 0, 2, 0]])).numpy(), batch)


@pytest.mark.parametrize("shape", SHAPES)
def test_penalty_one_image_after_the_other(shape):
    batch, model = images(40, *shape), conv(shape)
    data = dataset(batch, np.zeros(40))
    sample = Subject(model, data).sample(30, 4)
    found, *_ = changes(sample.inputs, seed=4)
    before = softmax(model(sample.inputs).numpy(), axis=1)
    total = 0.0
    for penalty, new in zip((6, 1, 2, 3, 1, 12, 2), found, strict=True):
        after = softmax(model(new).numpy(), axis=1)
        for p, q in zip(before, after, strict=True):
            total += abs(p.max() - q.max()) if p.argmax() == q.argmax() else penalty
    assert augmentation_robustness_penalty(model, data, n_samples=30, seed=4) == pytest.approx(total / 30, abs=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_network_with_one_answer_has_no_penalty(shape):
    constant = linear(np.zeros((*shape, 3)), np.array([0.0, 2.0, 1.0]))
    assert augmentation_robustness_penalty(constant, dataset(images(20, *shape), np.zeros(20))) == 0


def test_a_change_of_the_answer_to_the_flipped_image_costs_18():
    """The prediction says which half is brighter. The flip changes it; Sobel edges and an erased part may change it."""
    kernel = np.zeros((8, 8, 1, 2))
    kernel[:, :4, :, 0] = kernel[:, 4:, :, 1] = 1e-3  # confidences hardly differ from 1/2
    image = np.full((1, 8, 8, 1), 0.1, np.float32)
    image[:, :, :4] = 1
    found = augmentation_robustness_penalty(linear(kernel), dataset(image, [0]))
    expected = 18
    new, *_ = changes(image, 0)
    for penalty, one in zip((3, 2), (new[EDGES], new[ERASED]), strict=True):
        expected += penalty * (one[:, :, :4].sum() < one[:, :, 4:].sum())
    assert found == pytest.approx(expected, abs=0.1)


def test_all_changes_together_cost_27():
    """The network predicts one class for the unchanged image, and the other class for all changed images."""
    image = np.zeros((1, 20, 20, 3), np.float32)
    image[:, :7] = [0.5, 0.2, 0.1]
    image[:, :, :3] = [0.1, 0.4, 0.8]
    model = sequential((20, 20, 3), layers.Flatten(), layers.Dense(2 * image.size, "relu"), layers.Dense(2))
    one, distance = np.eye(image.size), np.ones(2 * image.size)  # sum of |x - image|
    kernels = np.concatenate([one, -one], axis=1), np.stack([0 * distance, distance], axis=1)
    biases = np.concatenate([-image.ravel(), image.ravel()]), np.array([0.01, 0])
    model.set_weights([kernels[0], biases[0], kernels[1], biases[1]])
    assert augmentation_robustness_penalty(model, dataset(image, [0])) == 27


def test_labels_and_a_softmax_at_the_end_do_not_matter_but_the_seed_does():
    batch, model, ending = images(30, 8, 8, 3), conv((8, 8, 3)), conv((8, 8, 3), end=[layers.Softmax()])
    expected, *others = (
        augmentation_robustness_penalty(network, dataset(batch, np.full(30, label)))
        for network, label in ((model, 0), (model, 1), (ending, 0))
    )
    assert 0 < expected < 27
    assert others == [expected, expected]
    assert augmentation_robustness_penalty(model, dataset(batch, np.zeros(30)), seed=1) != expected


runner_up = baselines.load("augmentation_robustness_runner_up")


def wide_network(shape, scale=3.0):
    model = sequential(shape, layers.Conv2D(4, 2, activation="relu"), layers.Flatten(), layers.Dense(3))
    draw = np.random.default_rng(1)
    model.set_weights([scale * draw.normal(size=w.shape) / np.sqrt(w.shape[0]) for w in model.get_weights()])
    return model


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
        before, *after = softmax(np.concatenate([model(version).numpy() for version in versions]).astype(float), axis=1)
        for answer, penalty in zip(after, (6, 1, 2, 3, 1, 12, 2), strict=True):
            same = answer.argmax() == before.argmax()
            total += abs(answer.max() - before.max()) if same else penalty
    return total


@pytest.mark.parametrize(("size", "n_batches"), [(8, 2), rest(8, 201), rest(64, 1)])
def test_the_runner_up_image_by_image(size, n_batches):
    model, batch = wide_network((8, 8, 3)), images(30, 8, 8, 3)
    found = runner_up(model, dataset(batch, np.zeros(30)), batch=size, n_batches=n_batches, seed=3)
    assert found == pytest.approx(by_image(model, batch, size, n_batches, 3), rel=1e-5)
    assert found > 0


def test_the_runner_up_is_a_sum_over_the_first_images_in_their_order():
    model, batch = wide_network((8, 8, 1)), images(130, 8, 8, 1)
    data = dataset(batch, np.zeros(130))
    first = runner_up(model, data, n_batches=1)
    assert first == runner_up(model, dataset(batch[:64], np.zeros(64)))
    assert first < runner_up(model, data, n_batches=2) < runner_up(model, data)
    backwards = runner_up(model, dataset(batch[::-1], np.zeros(130)), n_batches=1)
    assert backwards != first
