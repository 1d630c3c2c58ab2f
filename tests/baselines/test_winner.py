"""Tests of the submissions of the first two places, against re-implementations with the published files' draws."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from matrix import rest
from scipy.special import softmax
from sklearn.metrics import davies_bouldin_score
from small_networks import dataset, gaussian, images, layers, sequential

import baselines
from baselines import MeasureUnavailable
from baselines.consistency.augmentation_robustness import changed, draw_rectangles
from baselines.core.streams import stream

winner = baselines.load("dbi_mixup_winner")


def labelled_images(n, classes=3):
    draw = np.random.default_rng(0)
    labels = draw.integers(0, classes, n)
    places = np.eye(8, dtype=np.float32)[labels]
    return draw.random((n, 8, 8, 1), np.float32) + 0.3 * places[:, :, None, None], labels


def network(classes=3):
    front = [tf.keras.Input((8, 8, 1)), layers.Conv2D(4, 3, padding="same", activation="relu"), layers.Flatten()]
    return gaussian(tf.keras.Sequential([*front, layers.Dense(classes)]), 1)


def by_hand(model, x, y):
    """The measure as the published file computes it, batch by batch and class by class, with the file's seeds."""
    tf.random.set_seed(0)
    data = dataset(x, y).repeat(-1).shuffle(5000, seed=1)
    clusters = []
    for some, labels in data.batch(120).take(10):
        found = tf.nn.max_pool2d(model.layers[0](some), 4, 4, "VALID")
        clusters.append(davies_bouldin_score(found.numpy().reshape(120, -1), labels))
    first = next(iter(data.batch(50)))[1].numpy()
    size = 10 * (1 + first.max())
    batches = list(dataset(x, y).repeat(-1).batch(size).take(10))
    accuracies = []
    for label in range(1 + first.max()):
        parts = [some.numpy()[labels.numpy() == label] for some, labels in batches]
        if min(map(len, parts)) > 0:
            pairs = [np.array([(a + b) / 2 for a, b in itertools.combinations(part, 2)]) for part in parts]
            accuracies.append(np.mean([np.mean(model(some).numpy().argmax(axis=1) == label) for some in pairs]))
    return np.mean(clusters) * (1 - np.mean(accuracies))


@pytest.mark.parametrize("n", [70, 400])
def test_the_draws_of_the_published_file_whatever_the_seed(n):
    model, (x, y) = network(), labelled_images(n)
    expected = by_hand(model, x, y)
    assert expected > 0
    for seed in (0, 9):
        tf.random.set_seed(seed)
        assert winner(model, dataset(x, y)) == pytest.approx(expected, rel=1e-5)


def test_classes_count_that_are_among_the_first_and_in_every_batch():
    x, y = labelled_images(3000)
    y[2999] = 3  # among the first fifty that are shuffled, in none of the first batches
    model = network(4)
    shuffled = by_hand(model, x, y)
    assert winner(model, dataset(x, y)) == pytest.approx(shuffled, rel=1e-5)
    x, _ = labelled_images(2000)
    with pytest.raises(MeasureUnavailable, match="needs a class with examples in every batch"):
        winner(network(), dataset(x, np.arange(2000) < 100))
    with pytest.raises(MeasureUnavailable, match="needs examples of two classes"):
        winner(network(), dataset(x, np.zeros(2000)))


runner_up, mean_penalty = map(baselines.load, ("augmentation_robustness_runner_up", "augmentation_robustness_penalty"))


def wide_network(shape, scale=3.0):
    model = sequential(shape, layers.Conv2D(4, 2, activation="relu"), layers.Flatten(), layers.Dense(3))
    draw = np.random.default_rng(1)
    model.set_weights([scale * draw.normal(size=w.shape) / np.sqrt(w.shape[0]) for w in model.get_weights()])
    return model


def by_image(model, batch, size, n_batches, seed):
    """Return the measure computed image by image, with the factors of each image's batch and the measure's draws."""
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
def test_image_by_image(size, n_batches):
    model, batch = wide_network((8, 8, 3)), images(30, 8, 8, 3)
    found = runner_up(model, dataset(batch, np.zeros(30)), batch=size, n_batches=n_batches, seed=3)
    assert found == pytest.approx(by_image(model, batch, size, n_batches, 3), rel=1e-5)
    assert found > 0


def test_it_is_a_sum_over_the_first_images_in_their_order():
    model, batch = wide_network((8, 8, 1)), images(130, 8, 8, 1)
    data = dataset(batch, np.zeros(130))
    first = runner_up(model, data, n_batches=1)
    assert first == runner_up(model, dataset(batch[:64], np.zeros(64)))
    assert first < runner_up(model, data, n_batches=2) < runner_up(model, data)
    backwards = runner_up(model, dataset(batch[::-1], np.zeros(130)), n_batches=1)
    assert backwards != first


@pytest.mark.rest
def test_its_mean_is_that_of_the_shuffled_measure_but_for_the_draws():
    model, batch = wide_network((8, 8, 1)), images(2000, 8, 8, 1)
    data = dataset(batch, np.zeros(2000))
    assert runner_up(model, data) / 2000 == pytest.approx(mean_penalty(model, data), rel=0.05)
