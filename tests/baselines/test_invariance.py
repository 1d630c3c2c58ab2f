"""Tests of response curves of geometric and colour perturbations, and of their measures."""

import numpy as np
import pytest
import tensorflow as tf
from matrix import rest
from small_networks import dataset, gaussian, images, layers, sequential, value

from baselines import sharing
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.perturbation_response.image_perturbation import jitter_colours, rotate, translate_x, translate_y
from baselines.perturbation_response.invariance import invariance_curve
from baselines.perturbation_response.response_curve import gi_score
from harness.corpus import augmentation

CHANGES = {"rotation": rotate, "translate_x": translate_x, "translate_y": translate_y, "color_jitter": jitter_colours}
SHIFTS = (-0.5, 0.5)
RANGES = {"rotation": (-180, 179), "translate_x": SHIFTS, "translate_y": SHIFTS, "color_jitter": (-0.25, 0.25)}
PREFIXES = ("gi", "augmented_subset_error", "pr_mean_error")


def conv(shape, classes=3, seed=0):
    parts = [tf.keras.Input(shape), layers.Conv2D(4, 1), layers.ReLU(), layers.Flatten(), layers.Dense(classes)]
    return gaussian(tf.keras.Sequential(parts), seed)


def own_answers(model, inputs):
    """Return the model's predictions, as labels with which it is always right on unchanged images."""
    return model(inputs).numpy().argmax(axis=1)


def test_they_are_those_of_training():
    assert {name: augmentation.PERTURBATIONS[name] for name in CHANGES} == CHANGES


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("shape", [(5, 5, 3), (4, 7, 1), (1, 1, 3)])
def test_magnitude_0_changes_nothing(change, shape):
    batch = images(3, *shape)
    assert CHANGES[change](tf.zeros(3), tf.constant(batch)).numpy() == pytest.approx(batch, abs=1e-6)


def test_directions():
    """The image is, row by row from the top, 1 2 / 3 4."""
    batch = tf.constant([[[[0.1], [0.2]], [[0.3], [0.4]]]])
    for change, magnitude, expected in (
        (rotate, 90.0, [[0.2, 0.4], [0.1, 0.3]]),
        (rotate, -90.0, [[0.3, 0.1], [0.4, 0.2]]),
        (rotate, -180.0, [[0.4, 0.3], [0.2, 0.1]]),
        (translate_x, 0.5, [[0, 0.1], [0, 0.3]]),
        (translate_x, -0.5, [[0.2, 0], [0.4, 0]]),
        (translate_x, 0.25, [[0.05, 0.15], [0.15, 0.35]]),
        (translate_y, 0.5, [[0, 0], [0.1, 0.2]]),
    ):
        assert change(tf.constant([magnitude]), batch).numpy()[0, ..., 0] == pytest.approx(np.array(expected), abs=1e-5)


def test_colours():
    grey = np.full((1, 4, 4, 1), 0.4, np.float32)
    assert jitter_colours(tf.constant([0.25]), grey).numpy() == pytest.approx(np.full_like(grey, 0.5))
    red = np.zeros((1, 1, 1, 3), np.float32)
    red[..., 0] = 0.5
    # brightness 0.4; contrast about its luminance 0.1196: 0.34392, 0 -> 0.02392 ; ...
    amount = -0.2
    luminance = [0.299, 0.587, 0.114]
    expected = 0.8 * red
    for base in (lambda x: (x @ luminance).mean(), lambda x: (x @ luminance)[..., None]):
        expected = np.clip(base(expected) + (1 + amount) * (expected - base(expected)), 0, 1)
    found = jitter_colours(tf.constant([amount]), tf.constant(red)).numpy()
    assert found.max() == pytest.approx(expected.max())
    assert found.min() == pytest.approx(expected.min(), abs=1e-6)
    # -0.2 turns from red (hue 0 = 1): hue 0.8, between blue (2/3) and magenta (5/6).
    assert found[0, 0, 0].argmax() == 2
    assert (found[0, 0, 0, 0] - found.min()) / (found.max() - found.min()) == pytest.approx(6 * (0.8 - 2 / 3), abs=1e-5)


@pytest.mark.rest
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("shape", [(6, 6, 3), (5, 8, 1), (2, 2, 4), (1, 1, 1)])
def test_curve_against_one_image_after_the_other(change, shape):
    batch, model = images(10, *shape), conv(shape)
    labels = own_answers(model, batch)
    magnitudes = tuple(np.linspace(*RANGES[change], 7))
    subject = Subject(model, dataset(batch, labels))
    accuracies = invariance_curve(subject, change, magnitudes, 10, 0)
    for magnitude, accuracy in zip(magnitudes, accuracies, strict=True):
        changed = batch.copy()
        for i in range(10):
            new = CHANGES[change](tf.constant([magnitude], tf.float32), tf.constant(batch[i : i + 1, ..., :3]))
            changed[i, ..., :3] = new.numpy()[0]
        assert accuracy == pytest.approx(np.mean(own_answers(model, changed) == labels))


@pytest.mark.rest
@pytest.mark.parametrize("change", CHANGES)
def test_normalized_images_are_changed_as_the_originals(change):
    """The measures are equal for three forms of images, each with its network: in [0, 1], normalized, and bytes."""
    shape = (6, 6, 3)
    batch, model = images(40, *shape), conv(shape)
    batch[0, 0, 0], batch[0, 0, 1] = 0, 1  # black and white occur
    labels = own_answers(model, batch)
    mean, deviation = np.float32([0.4, 0.5, 0.6]), np.float32([0.2, 0.25, 0.3])
    normalized = sequential(shape, layers.Conv2D(3, 1), *model.layers)
    normalized.layers[0].set_weights([np.diag(deviation)[None, None], mean])
    normalize = (batch - mean) / deviation
    of_bytes = sequential(shape, layers.Rescaling(1 / 255), *model.layers)
    with sharing():
        for prefix in PREFIXES:
            expected = value(f"{prefix}_{change}", model, dataset(batch, labels))
            assert value(f"{prefix}_{change}", normalized, dataset(normalize, labels)) == pytest.approx(expected)
            assert value(f"{prefix}_{change}", of_bytes, dataset(255 * batch, labels)) == pytest.approx(expected)


def test_a_network_that_does_not_see_positions():
    """The network sees only the mean of an image. No change alters it: a frame is black, bilinear weights sum to 1."""
    batch = np.zeros((12, 16, 16, 1), np.float32)
    batch[:6, 6:10, 6:10] = 1  # mean 1/16
    batch[6:, 7:9, 7:9] = 1  # mean 1/64
    data = dataset(batch, np.repeat([0, 1], 6))
    model = sequential((16, 16, 1), layers.GlobalAveragePooling2D(), layers.Dense(2))
    model.set_weights([np.float32([[1, 0]]), np.float32([0, 0.05])])
    for change in ("translate_x", "translate_y"):
        options = {"low": -0.3, "high": 0.3}
        assert [value(f"{prefix}_{change}", model, data, **options) for prefix in PREFIXES] == [0] * 3
        assert value(f"gi_{change}", model, data, symmetric=True, **options) == 0
        assert value(f"gi_{change}", model, data) > 0  # out of the image


def side_of_a_pixel():
    """Return a network that tells in which half a bright pixel is, and images with the pixel in the right half."""
    batch = np.zeros((3, 8, 8, 1), np.float32)
    batch[:, 2, 4] = 1
    model = sequential((8, 8, 1), layers.Flatten(), layers.Dense(2, use_bias=False))
    kernel = np.zeros((8, 8, 2))
    kernel[:, 4:, 0] = kernel[:, :4, 1] = 1
    model.set_weights([kernel.reshape(64, 2)])
    return model, dataset(batch, [0] * 3)


@pytest.mark.parametrize("method", ["trapezoid", "exact"])
def test_both_directions_in_closed_form(method):
    """A shift of over half a pixel to the left makes predictions wrong. Without the pixel, class 0 wins the tie."""
    model, data = side_of_a_pixel()
    shifts = np.linspace(-0.5, 0.5, 25)
    expected = np.where(8 * shifts > -0.5, 1.0, 0.0)
    assert value("gi_translate_x", model, data, method=method) == pytest.approx(gi_score(shifts, expected, method))
    assert value("pr_mean_error_translate_x", model, data) == pytest.approx(1 - expected.mean())
    left = gi_score(-shifts[12::-1], expected[12::-1], method)
    assert value("gi_translate_x", model, data, symmetric=True, method=method) == pytest.approx(left / 2)
    assert value("gi_translate_y", model, data) == 0
    assert value("gi_translate_x", model, data, low=0.0) == 0
    mirrored = tf.keras.Sequential([layers.Flatten(), layers.Dense(2)])
    mirrored.build((None, 8, 8, 1))
    mirrored.set_weights([model.get_weights()[0].reshape(8, 8, 2)[:, ::-1].reshape(64, 2), np.zeros(2)])
    flipped = data.map(lambda image, label: (image[:, ::-1], label))
    assert value("gi_translate_x", mirrored, flipped) < value("gi_translate_x", model, data)
    assert value("gi_translate_x", mirrored, flipped, symmetric=True, method=method) == pytest.approx(left / 2)


@pytest.mark.parametrize(
    ("change", "options", "n", "repeats"),
    [
        *((change, {"share": 0.5, "n_least": 1}, 30, 1) for change in CHANGES),
        *(rest("rotation", {"share": share, "n_least": 1}, round(60 * share), 1) for share in (0.1, 1.0)),
        *(rest("rotation", {"n_least": least}, least, -(-least // 60)) for least in (40, 60, 61, 300)),
    ],
)
def test_augmented_subset_error_of_a_share_or_of_least_examples_against_numpy(change, options, n, repeats):
    batch, model = images(60, 6, 6, 3), conv((6, 6, 3))
    subject = Subject(model, dataset(batch, own_answers(model, batch)))
    sample = subject.sample(n, 3)
    columns = stream("magnitudes", 3).uniform(*RANGES[change], (len(sample), repeats)).astype(np.float32).T
    changed = [CHANGES[change](tf.constant(column), tf.constant(sample.inputs)).numpy() for column in columns]
    expected = 1 - np.mean([own_answers(model, one) == sample.labels for one in changed])
    found = value(f"augmented_subset_error_{change}", model, subject.dataset, seed=3, **options)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("channels", [2, 5])
def test_rotations_need_no_colours(channels):
    data = dataset(images(5, 4, 4, channels), np.zeros(5))
    assert all(0 <= value(f"{prefix}_rotation", conv((4, 4, channels)), data) <= 1 for prefix in PREFIXES)


@pytest.mark.parametrize("change", [change if change == "color_jitter" else rest(change) for change in CHANGES])
def test_never_right_and_always_right(change):
    model = conv((4, 4, 3))
    model.layers[-1].set_weights([np.zeros((64, 3)), np.array([1.0, 0, 0])])
    for label, expected in ((0, 0), (1, 1)):
        data = dataset(images(10, 4, 4, 3), [label] * 10)
        with sharing():
            assert [value(f"{prefix}_{change}", model, data) for prefix in PREFIXES] == [pytest.approx(expected)] * 3
