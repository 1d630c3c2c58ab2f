"""Colour operations on batches of images with 1 or 3 channels in [0, 1], modelled on Pillow's.

Imports TensorFlow: for the trainer's process only.
"""

from typing import Any

import tensorflow as tf


def smooth(images: Any) -> Any:
    """Average each pixel (weight 5) with its eight neighbours (weight 1); border pixels stay unchanged."""
    channels = images.shape[-1]
    kernel = tf.constant([[1, 1, 1], [1, 5, 1], [1, 1, 1]], tf.float32)[:, :, None, None] / 13
    smoothed = tf.nn.depthwise_conv2d(images, tf.tile(kernel, [1, 1, channels, 1]), [1] * 4, "SAME")
    height, width = tf.unstack(tf.shape(images)[1:3])
    inner = tf.pad(tf.ones([height - 2, width - 2], tf.bool), [[1, 1], [1, 1]])
    return tf.where(inner[None, :, :, None], smoothed, images)


def auto_contrast(images: Any) -> Any:
    """Stretch each channel of each image to [0, 1]; constant channels stay unchanged."""
    low = tf.reduce_min(images, axis=[1, 2], keepdims=True)
    high = tf.reduce_max(images, axis=[1, 2], keepdims=True)
    return tf.where(high > low, tf.math.divide_no_nan(images - low, high - low), images)


def equalize(images: Any) -> Any:
    """Make the histogram of each channel of each image, in 256 levels, as flat as possible."""
    shape = tf.shape(images)
    levels = tf.reshape(tf.transpose(to_levels(images), [0, 3, 1, 2]), [-1, shape[1] * shape[2]])
    counts = tf.math.bincount(levels, minlength=256, maxlength=256, axis=-1)
    highest = tf.reduce_max(levels, axis=1, keepdims=True)
    step = (shape[1] * shape[2] - tf.gather(counts, highest, batch_dims=1)) // 255
    table = (tf.cumsum(counts, axis=1, exclusive=True) + step // 2) // tf.maximum(step, 1)
    table = tf.where(step > 0, tf.minimum(table, 255), tf.range(256)[None])
    flat = tf.cast(tf.gather(table, levels, batch_dims=1), tf.float32) / 255
    return tf.transpose(tf.reshape(flat, [shape[0], shape[3], shape[1], shape[2]]), [0, 2, 3, 1])


def to_levels(images: Any) -> Any:
    """Return the nearest of 256 levels, int32."""
    return tf.cast(tf.round(images * 255), tf.int32)
