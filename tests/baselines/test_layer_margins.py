"""Tests of distances from the decision boundary, in the input and in hidden layers."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import T1_DATA, dataset, dense, labelled, layers, random_kernels, sequential, t1

import baselines
from baselines.core.subject import Subject
from baselines.margin.layer_margin import chosen_positions, distances, signature
from baselines.margin.winner_margin import augmented
from baselines.network import INPUT
from baselines.network.hidden import hidden_positions

NAMES = [name for name in baselines.MEASURES if name.startswith("layer_margin")]


def test_distances_of_t1():
    subject = Subject(t1(), dataset(*T1_DATA))
    hidden = hidden_positions(subject.network)
    assert len(hidden) == 1
    found, _ = distances(subject, (INPUT, *hidden), 10, 0)
    assert found[:, 0] == pytest.approx([1 / math.sqrt(61), 1 / math.sqrt(29)], rel=1e-5)


def test_three_hidden_layers_at_even_distances():
    subject = Subject(network(), data(network()))
    hidden = hidden_positions(subject.network)
    assert len(hidden) == 4
    assert chosen_positions(subject.network) == (INPUT, hidden[0], hidden[2], hidden[3])


def test_the_distance_in_a_linear_network_is_that_from_the_hyperplane():
    rng = np.random.default_rng(0)
    kernel, images = rng.normal(size=(4, 2)), rng.normal(size=(30, 4))
    normal = kernel[:, 0] - kernel[:, 1]
    expected = images @ normal / np.linalg.norm(normal)
    subject = Subject(dense(kernel), dataset(images, np.zeros(30)))
    found, variations = distances(subject, (INPUT,), 30, 0)
    assert np.sort(found[0]) == pytest.approx(np.sort(expected), rel=1e-4)
    assert variations[0] == pytest.approx(images.var(axis=0).sum(), rel=1e-4)


def network(scale_in=1.0, scale_out=1.0):
    first, *middle, last = random_kernels(4, 8, 8, 8, 8, 3)
    return dense(scale_in * first, *middle, scale_out * last)


def data(model, scale=1.0):
    return labelled(model, scale * np.random.default_rng(2).normal(size=(50, 4)))


SCALED = [name for name in NAMES if name != "layer_margin_winner"]


@pytest.fixture(scope="module")
def scaled():
    """Return measure -> its values on a network, on one with larger logits, and on one with larger inputs."""
    given = data(network())
    calls = (network(), given), (network(scale_out=7), given), (network(scale_in=1 / 5), data(network(), scale=5))
    with baselines.sharing():
        return {name: [baselines.load(name)(*call) for call in calls] for name in SCALED}


@pytest.mark.parametrize("name", SCALED)
def test_what_scaling_inputs_or_logits_leaves(name, scaled):
    expected, *others = scaled[name]
    assert others == [pytest.approx(expected, rel=1e-4)] * 2


def test_signature_has_fences_within_the_values():
    assert signature(np.array([0.0, 1, 2, 3, 4])) == pytest.approx([0, 1, 2, 3, 4])
    assert signature(np.array([0.0, 1, 2, 3, 100])) == pytest.approx([0, 1, 2, 3, 6])


@pytest.mark.rest
@pytest.mark.parametrize("name", NAMES)
def test_without_correct_examples_or_gradients(name):
    wrong = dataset([[1.0, 1.0]] * 4, [1] * 4)
    dead = dense(np.zeros((2, 3)), np.zeros((3, 2)))
    for model, examples in ((t1(), wrong), (dead, dataset(*T1_DATA))):
        if name == "layer_margin_winner":
            with pytest.raises(baselines.MeasureUnavailable, match="needs images"):
                baselines.load(name)(model, examples)
            assert math.isfinite(baselines.load(name)(model, examples, data="mixup"))
        else:
            with pytest.raises(baselines.MeasureUnavailable, match="classified correctly and have a gradient"):
                baselines.load(name)(model, examples)


def images(channels, number=60):
    return np.random.default_rng(0).random((number, 8, 8, channels), np.float32)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_augmentation_keeps_shapes_and_a_fourth_channel(channels):
    before = images(channels)
    after = augmented(before, 0)
    assert after.shape == before.shape
    assert not np.allclose(after, before)
    assert np.array_equal(after, augmented(before, 0))
    assert not np.array_equal(after, augmented(before, 1))


@pytest.mark.parametrize("channels", [1, 3])
def test_each_image_is_augmented_by_draws_of_its_own(channels):
    """Almost no two of 400 copies of an image are alike: they differ in contrast, brightness, crop, and colours."""
    image = images(channels, number=1)
    copies = augmented(np.repeat(image, 400, axis=0), 0)
    assert len(np.unique(copies.reshape(400, -1).round(4), axis=0)) > 390
    means = copies.mean(axis=(1, 2))
    assert np.ptp(means[:50, 0]) > 0.08  # brightness within what was a batch
    mirrored = [np.corrcoef(copy.ravel(), image[0, :, ::-1].ravel())[0, 1] > 0.7 for copy in copies]
    assert 0.4 < np.mean(mirrored) < 0.6


def test_a_single_image_may_be_augmented():
    assert len({augmented(images(3, number=1), seed).tobytes() for seed in range(8)}) == 8


def test_contrast_and_brightness_are_those_of_tensorflow():
    before = images(1, number=200)
    after = augmented(before, 3)
    for old, new in zip(before, after, strict=True):
        straight = [side for side in (old, old[:, ::-1]) if np.corrcoef(side.ravel(), new.ravel())[0, 1] > 1 - 1e-6]
        if straight:  # not enlarged
            contrast = new.std() / old.std()
            expected = tf.image.adjust_contrast(straight[0] + (new.mean() - old.mean()), contrast).numpy()
            assert new == pytest.approx(expected, abs=1e-5)
            assert 0.7 - 1e-4 < contrast < 1 + 1e-4
            assert abs(new.mean() - old.mean()) < 0.05 + 1e-4


def test_a_clearer_network_has_larger_margins():
    tf.keras.utils.set_random_seed(0)
    model = sequential((8, 8, 3), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(3))
    inputs = images(3)
    answers = model(inputs).numpy()
    measure = baselines.load("layer_margin_winner")
    right, wrong = (measure(model, dataset(inputs, labels)) for labels in (answers.argmax(1), answers.argmin(1)))
    assert right < 0 < wrong
