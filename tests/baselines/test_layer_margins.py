"""Tests of margins in the input and in hidden layers: distances from the boundary, and margins over k-variances."""

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import T1_DATA, dataset, dense, gaussian, layers, random_kernels, sequential, t1

import baselines
from baselines.core.subject import Subject
from baselines.margin.k_variance import authors_position, hidden_position, k_variance
from baselines.margin.layer_margin import chosen_positions, distances, signature
from baselines.margin.winner_margin import augmented
from baselines.network import INPUT
from baselines.network.hidden import hidden_positions


def test_distances_of_t1_and_from_a_hyperplane():
    subject = Subject(t1(), dataset(*T1_DATA))
    hidden = hidden_positions(subject.network)
    assert len(hidden) == 1
    found, _ = distances(subject, (INPUT, *hidden), 10, 0)
    assert found[:, 0] == pytest.approx([1 / math.sqrt(61), 1 / math.sqrt(29)], rel=1e-5)
    rng = np.random.default_rng(0)
    kernel, images = rng.normal(size=(4, 2)), rng.normal(size=(30, 4))
    normal = kernel[:, 0] - kernel[:, 1]
    found, variations = distances(Subject(dense(kernel), dataset(images, np.zeros(30))), (INPUT,), 30, 0)
    assert np.sort(found[0]) == pytest.approx(np.sort(images @ normal / np.linalg.norm(normal)), rel=1e-4)
    assert variations[0] == pytest.approx(images.var(axis=0).sum(), rel=1e-4)


def test_three_hidden_layers_at_even_distances_and_fences_within_the_values():
    subject = Subject(dense(*random_kernels(4, 8, 8, 8, 8, 3)), None)
    hidden = hidden_positions(subject.network)
    assert len(hidden) == 4
    assert chosen_positions(subject.network) == (INPUT, hidden[0], hidden[2], hidden[3])
    assert signature(np.array([0.0, 1, 2, 3, 4])) == pytest.approx([0, 1, 2, 3, 4])
    assert signature(np.array([0.0, 1, 2, 3, 100])) == pytest.approx([0, 1, 2, 3, 6])


def images(channels, number=60):
    return np.random.default_rng(0).random((number, 8, 8, channels), np.float32)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_augmentation_keeps_shapes_and_a_fourth_channel(channels):
    before = images(channels)
    after = augmented(before, 0)
    assert after.shape == before.shape
    assert not np.allclose(after, before)
    assert np.array_equal(after, augmented(before, 0))
    assert len({augmented(images(channels, number=1), seed).tobytes() for seed in range(8)}) == 8


@pytest.mark.parametrize("channels", [1, 3])
def test_each_image_is_augmented_by_draws_of_its_own(channels):
    """Almost no two of 400 copies of an image are equal: they differ in contrast, brightness, crop, and colours."""
    image = images(channels, number=1)
    copies = augmented(np.repeat(image, 400, axis=0), 0)
    assert len(np.unique(copies.reshape(400, -1).round(4), axis=0)) > 390
    means = copies.mean(axis=(1, 2))
    assert np.ptp(means[:50, 0]) > 0.08  # brightness within what was a batch
    mirrored = [np.corrcoef(copy.ravel(), image[0, :, ::-1].ravel())[0, 1] > 0.7 for copy in copies]
    assert 0.4 < np.mean(mirrored) < 0.6


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
    for made in ("augmented", "mixup"):
        data = [dataset(inputs, labels) for labels in (answers.argmax(1), answers.argmin(1))]
        right, wrong = (measure(model, one, data=made) for one in data)
        assert right < 0 < wrong


kv, kv_gn = baselines.load("kv_margin"), baselines.load("kv_gn_margin")

#: Two classes of two examples: halves are one example each, 2 apart in class 0 and 6 apart in class 1.
FOUR, OF_FOUR = [[3.0, 1.0], [3.0, -1.0], [-5.0, 3.0], [-5.0, -3.0]], [0, 0, 1, 1]


def linear():
    """The hidden layer returns its input; examples of class 0 have the margin 2 x_1, with a gradient of length 2."""
    return dense(np.eye(2), np.array([[1.0, -1.0], [0.0, 0.0]]), activation=None)


@pytest.mark.parametrize("choice", ["", "_authors"])
def test_two_classes_of_two_examples(choice):
    """The margins are 6, 6, 10 and 10; each class has half of the examples, and their spreads are 2 and 6."""
    model, data = linear(), dataset(FOUR, OF_FOUR)
    assert baselines.load(f"kv_margin{choice}")(model, data) == pytest.approx(-8 / (2 * (2 + 6) / 2), rel=1e-5)
    assert baselines.load(f"kv_gn_margin{choice}")(model, data) == pytest.approx(-4 / ((2 + 6) / 2), rel=1e-5)
    data = dataset([*FOUR, [17.0, 1.0], [17.0, -1.0]], [*OF_FOUR, 0, 0])
    for name in ("kv_margin", "kv_gn_margin"):
        median, mean = (baselines.load(f"{name}{choice}:statistic={one}")(model, data) for one in ("median", "mean"))
        assert median / mean == pytest.approx(10 / ((6 + 6 + 10 + 10 + 34 + 34) / 6), rel=1e-5)


def test_hidden_layers_behind_categories_have_gradients():
    model = sequential((1,), layers.CategoryEncoding(4, "one_hot"), *(layers.Dense(2, use_bias=False) for _ in "ab"))
    model.set_weights([np.array(FOUR), linear().get_weights()[1]])
    data = dataset([[0], [1], [2], [3]], OF_FOUR)
    assert [measure(model, data) for measure in (kv, kv_gn)] == pytest.approx([-1, -1], rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_k_variance_is_the_best_of_all_matchings(seed):
    points = np.random.default_rng(seed).normal(size=(11, 3))
    costs = np.linalg.norm(points[:5, None] - points[None, 5:10], axis=2)
    best = min(costs[range(5), order].mean() for order in itertools.permutations(range(5)))
    assert k_variance(points) == pytest.approx(best, rel=1e-5)
    assert k_variance(np.ones((10, 3))) == 0


@pytest.mark.parametrize("name", ["kv_margin", "kv_gn_margin"])
def test_against_numpy(name):
    """A class' Lipschitz constant is the longest gradient among its examples; with ReLU, gradients differ."""
    model = dense(*random_kernels(4, 8, 3, seed=0))
    images = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    labels = model(images).numpy().argmax(axis=1)
    labels[::10] = (labels[::10] + 1) % 3
    sample = Subject(model, dataset(images, labels)).sample(600, 0)
    first, second = model.get_weights()
    hidden = np.maximum(sample.inputs @ first, 0)
    answers = hidden @ second
    margins, lengths = np.zeros(60), np.zeros(60)
    for i, label in enumerate(sample.labels):
        rival = max((j for j in range(3) if j != label), key=lambda j, i=i: answers[i, j])
        margins[i] = answers[i, label] - answers[i, rival]
        lengths[i] = np.linalg.norm(second[:, label] - second[:, rival])
    assert np.bincount(sample.labels).min() > 3
    spread = 0.0
    for label in range(3):
        rows = np.flatnonzero(sample.labels == label)
        longest = lengths[rows].max() if name == "kv_margin" else 1
        spread += len(rows) / 60 * k_variance(hidden[rows]) * longest
    expected = -np.median(margins if name == "kv_margin" else margins / lengths) / spread
    assert baselines.load(name)(model, dataset(images, labels)) == pytest.approx(expected, rel=1e-4)


def test_collapsed_classes_dead_networks_and_lonely_examples():
    collapsed = dataset([[1, 0], [1, 0], [-1, 0], [-1, 0]], OF_FOUR)
    assert kv_gn(linear(), collapsed) == pytest.approx(-1 / 1e-12, rel=1e-4)
    dead = dense(np.zeros((2, 3)), np.zeros((3, 2)))
    assert kv(dead, dataset(FOUR, OF_FOUR)) == 0
    more = dataset([*FOUR, [9.0, 9.0]], [*OF_FOUR, 2])
    three = dense(np.eye(2), [[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]], activation=None)
    assert kv_gn(three, more) < 0


def test_layers():
    """Layers are numbered without the dropout: 0, 2 and 7 are convolutions, 5 is the pooling, and 10 is the last."""
    middle = [
        layers.Conv2D(3, 3, padding="same"), layers.ReLU(), layers.Conv2D(3, 3, padding="same", activation="relu"),
        layers.ReLU(), layers.Dropout(0.5), layers.ELU(), layers.MaxPooling2D(), layers.Softmax(),
        layers.Conv2D(3, 3, padding="same"), layers.ReLU(), layers.Flatten(), layers.Dense(3),
    ]  # fmt: skip
    model = sequential((8, 8, 1), *middle)
    found = Subject(model, None).network
    deep = Subject(dense(*[np.eye(2)] * 12), None).network
    for position, last in ((authors_position, 6), (hidden_position, 8)):
        places = [found.layers[number][1] for number in (1, last)]
        assert [position(found, layer) for layer in ("1st", "8th")] == places
        assert [position(deep, layer) for layer in ("1st", "8th")] == [1, 15]


def test_a_layer_of_pooling_to_itself_in_front_moves_the_authors_choice_alone():
    def values_of(*front):
        middle = [layers.Conv2D(3, 3, padding="same", activation="relu") for _ in range(4)]
        model = gaussian(sequential((6, 6, 1), *front, *middle, layers.Flatten(), layers.Dense(3)))
        data = dataset(np.random.default_rng(1).random((30, 6, 6, 1)), np.arange(30) % 3)
        return [baselines.load(f"kv_margin{suffix}")(model, data) for suffix in ("", "_authors")]

    plain, moved = values_of(), values_of(layers.Rescaling(1.0))
    assert plain[0] == pytest.approx(moved[0], rel=1e-5)
    assert plain[1] != pytest.approx(moved[1], rel=1e-2)
