"""The second place's submission, against a re-implementation that goes image by image, and the bounds of its sum."""

import numpy as np
import pytest
import tensorflow as tf
from matrix import rest
from scipy.special import softmax
from small_networks import dataset, images, layers

import baselines
from baselines.consistency.augmentation_robustness import changed, draw_rectangles
from baselines.core.streams import stream

runner_up, mean_penalty = map(baselines.load, ("augmentation_robustness_runner_up", "augmentation_robustness_penalty"))


def network(shape, scale=3.0):
    model = tf.keras.Sequential(
        [tf.keras.Input(shape), layers.Conv2D(4, 2, activation="relu"), layers.Flatten(), layers.Dense(3)]
    )
    draw = np.random.default_rng(1)
    model.set_weights([scale * draw.normal(size=w.shape) / np.sqrt(w.shape[0]) for w in model.get_weights()])
    return model


def by_image(model, batch, size, n_batches, seed):
    """Image by image, each with its batch' factors; rectangles and factors in the order of the measure's draws."""
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
    model, batch = network((8, 8, 3)), images(30, 8, 8, 3)
    found = runner_up(model, dataset(batch, np.zeros(30)), batch=size, n_batches=n_batches, seed=3)
    assert found == pytest.approx(by_image(model, batch, size, n_batches, 3), rel=1e-5)
    assert found > 0


def test_it_is_a_sum_over_the_first_images_in_their_order():
    model, batch = network((8, 8, 1)), images(130, 8, 8, 1)
    data = dataset(batch, np.zeros(130))
    first = runner_up(model, data, n_batches=1)
    assert first == runner_up(model, dataset(batch[:64], np.zeros(64)))
    assert first < runner_up(model, data, n_batches=2) < runner_up(model, data)
    backwards = runner_up(model, dataset(batch[::-1], np.zeros(130)), n_batches=1)
    assert backwards != first


@pytest.mark.rest
def test_its_mean_is_that_of_the_shuffled_measure_but_for_the_draws():
    model, batch = network((8, 8, 1)), images(2000, 8, 8, 1)
    data = dataset(batch, np.zeros(2000))
    assert runner_up(model, data) / 2000 == pytest.approx(mean_penalty(model, data), rel=0.05)
