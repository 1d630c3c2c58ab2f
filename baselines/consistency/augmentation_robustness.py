"""Robustness of the predictions on training images to the transformations of data augmentation."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.requirements import require_unit_range
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.network import INPUT, Network

#: Penalties P_t of a changed class, for flip, saturation, crop, edges, brightness, flip and saturation, erasing.
PENALTIES = (6.0, 1.0, 2.0, 3.0, 1.0, 12.0, 2.0)

CROP = 0.9  #: fraction of height and width that a crop keeps
BRIGHTNESS = 0.5  #: is added to pixels
SATURATION = (0.6, 1.6)  #: bounds of the factor for the saturation
ERASED = (0.02, 0.4)  #: bounds of the erased fraction of the area, if rectangles are as narrow as possible
ASPECT = 0.3  #: aspect ratio of the narrowest erased rectangle


@measure(Need.CLASSES, Need.QUANTITIES)
def augmentation_robustness_penalty(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Penalty for predictions that change if training images are flipped, cropped, or partly erased: runner-up of PGDL.

    Formula: mean over images x of sum_t (|max p(x) - max p(t(x))| if argmax p(x) = argmax p(t(x)), else P_t), p the
    predicted probabilities. Range: [0, 27]. Source: Aithal et al. 2021, arXiv 2101.06459. Work: 8 forward passes.
    Draws: depend on the order of examples. Refused: inputs are not images of 1, 3 or 4 channels.

    Each image undergoes seven transformations t. P_t is 6 for a horizontal flip, 1 for a random saturation, 2 for a
    central crop, 3 for Sobel edges, 1 for more brightness, 12 for flip and saturation together, 2 for a random
    rectangle set to 0. Pixels must be in [0, 1]; a fourth channel is not a colour. At chance accuracy the value is
    meaningless: a network with constant outputs has the best value, 0.
    """
    require_unit_range(subject)
    inputs = subject.sample(n_samples, seed).inputs
    rng = stream("augmentation robustness", seed)
    saturations = rng.uniform(*SATURATION, (2, len(inputs))).astype(np.float32)
    return sum_of_penalties(subject.network, inputs, saturations, rng) / len(inputs)


def sum_of_penalties(network: Network, inputs: Array, saturations: Array, rng: np.random.Generator) -> float:
    """Return the exact sum of the penalties over all images `inputs` (n, H, W, C) and all transformations.

    `saturations` (2, n) are factors for the images and for the flipped images. `rng` draws the rectangles to erase.
    """
    shape = network.shape(INPUT)
    if len(shape) != 3 or shape[-1] not in (1, 3, 4) or min(shape[:2]) < 2:
        raise MeasureUnavailable(f"needs images with 1, 3 or 4 channels, which inputs of shape {shape} are not")

    def penalties(images: Any, saturations: Any, rectangles: Any) -> Any:
        versions = tf.concat([images, *changed(images, tf.transpose(saturations), rectangles)], axis=0)
        probabilities = tf.nn.softmax(network.logits(versions))
        shape = [1 + len(PENALTIES), -1]
        confidence = tf.reshape(tf.reduce_max(probabilities, axis=1), shape)
        answer = tf.reshape(tf.argmax(probabilities, axis=1), shape)
        difference = tf.abs(confidence[1:] - confidence[0])
        return tf.where(answer[1:] == answer[0], difference, tf.constant(PENALTIES)[:, None])

    arrays = [inputs, saturations.T, draw_rectangles(len(inputs), shape[0], shape[1], rng)]
    size = max(network.batch_size // (1 + len(PENALTIES)), 1)
    found = network.in_batches("augmentation penalties", penalties, arrays, size=size)
    return math.fsum(penalty for part in found for penalty in part.astype(np.float64).flat)


def changed(images: Any, saturations: Any, rectangles: Any) -> Sequence[Any]:
    """Return images (n, H, W, C) after each of the seven transformations, in the order of `PENALTIES`.

    `saturations` (2, n) are factors for the images and for the flipped images. `rectangles` (n, 4) are erased.
    """
    flipped = tf.image.flip_left_right(images)
    height, width = images.shape[1:3]
    return (
        flipped,
        saturate(images, saturations[0]),
        tf.image.resize_with_pad(tf.image.central_crop(images, CROP), height, width),
        tf.image.sobel_edges(images)[..., 1] / 4 + 0.5,  # along the rows
        images + BRIGHTNESS,
        saturate(flipped, saturations[1]),
        erase(images, rectangles),
    )


def saturate(images: Any, factors: Any) -> Any:
    """Multiply the saturation of each pixel, (max - min) / max, by its image's factor (n,), up to 1."""
    if images.shape[-1] == 1:
        return images
    colours = images[..., :3]
    largest, smallest = (f(colours, axis=-1, keepdims=True) for f in (tf.reduce_max, tf.reduce_min))
    most = tf.math.divide_no_nan(tf.maximum(largest, 0), largest - smallest)
    new = largest + tf.minimum(factors[:, None, None, None], most) * (colours - largest)
    return tf.concat([new, images[..., 3:]], axis=-1)


def erase(images: Any, rectangles: Any) -> Any:
    """Set pixels [top, bottom) x [left, right) of images to 0; rectangles (n, 4): top, left, bottom, right."""
    top, left, bottom, right = (edge[:, None] for edge in tf.unstack(rectangles, axis=1))
    rows, columns = tf.range(images.shape[1]), tf.range(images.shape[2])
    is_row, is_column = (rows >= top) & (rows < bottom), (columns >= left) & (columns < right)
    is_erased = is_row[:, :, None] & is_column[:, None, :]
    return tf.where(is_erased[..., None], 0.0, images)


def draw_rectangles(number: int, height: int, width: int, rng: np.random.Generator) -> Array:
    """Return random rectangles (number, 4), int32, in pixels: top, left, bottom, right."""
    area = height * width
    low = round(float(np.sqrt(ERASED[0] * area * ASPECT)))
    high = round(float(np.sqrt(ERASED[1] * area / ASPECT)))
    sides = np.array([height, width])
    ends = np.minimum(high, sides)
    sizes = rng.integers(np.minimum(low, ends - 1), ends, (number, 2))
    starts = rng.integers(0, sides - sizes)
    return np.concatenate([starts, starts + sizes], axis=1).astype(np.int32)
