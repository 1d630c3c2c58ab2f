"""The curve of cognitive neural activation: for images x, slopes beta(x) over entropies alpha(x), see `activation`."""

from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable
from baselines.core.sample import Array
from baselines.network import INPUT, Network, joined

#: Number of images whose pixels are counted at once.
_CHUNK = 256

# Changes of training images, which replace held-out images.
SHIFT = 4  #: largest shift in pixels
NOISE = 0.05  #: standard deviation of the noise, relative to the range of the pixels


def curve(
    network: Network, images: Array, *, value_range: tuple[float, float], include_output_layer: bool = False,
    n_bins: int = 1000,
) -> tuple[Array, Array]:  # fmt: skip
    """Return the entropies alpha (n,) of images (n, ...), and the slopes beta (n,) of their activations over depth."""
    return input_entropies(images, n_bins, value_range), slopes(activity(network, images)[0], include_output_layer)


def input_entropies(images: Array, n_bins: int, value_range: tuple[float, float]) -> Array:
    """Return the entropies (n,), in nats, of the pixels of images (n, ...). Range: [0, ln n_bins].

    The entropies are computed from histograms over `value_range`; pixels outside this range count as its ends.
    """
    low, high = value_range
    scale = n_bins / (high - low) if high > low else 0.0
    pixels = images.reshape(len(images), -1)
    return np.concatenate(
        [_chunk_entropies(pixels[i : i + _CHUNK], n_bins, low, scale) for i in range(0, len(pixels), _CHUNK)]
    )


def _chunk_entropies(pixels: Array, n_bins: int, low: float, scale: float) -> Array:
    bins = np.clip((pixels - low) * scale, 0, n_bins - 1).astype(np.int64)
    bins += np.arange(len(pixels))[:, None] * n_bins
    counts = np.bincount(bins.reshape(-1), minlength=len(pixels) * n_bins).reshape(len(pixels), n_bins)
    shares = counts / pixels.shape[1]
    found: Array = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1)
    return found


def activity(network: Network, images: Array) -> tuple[Array, Array]:
    """Return the sums (n, d) of each weight layer's pre-activations, in forward order, and logits (n, classes)."""

    def run(batch: Any) -> Any:
        *found, logits = network.run({INPUT: batch}, [*network.weight_nodes, network.output])
        sums = [tf.reduce_sum(values, axis=list(range(1, len(values.shape)))) for values in found]
        return tf.stack(sums, axis=1), logits

    sums, logits = joined(network.in_batches("activity", run, [images]))
    return sums.astype(np.float64), logits


def slopes(sums: Array, include_output_layer: bool) -> Array:
    """Return for each image the slope (n,) of the least-squares line through its d layers' sums (n, d) at 1, ..., d.

    The last layer is left out, unless `include_output_layer`.
    """
    counted = sums if include_output_layer else sums[:, :-1]
    depth = counted.shape[1]
    if depth < 2:
        which = "two weight layers" if include_output_layer else "two weight layers before the last"
        raise MeasureUnavailable(f"needs {which}, which this network lacks")
    centred = np.arange(depth) - (depth - 1) / 2
    found: Array = counted @ (centred / np.sum(centred**2))
    return found


def correlation(first: Array, second: Array) -> float:
    """Return Pearson's correlation of arrays (n,); 0 if either array is constant up to rounding."""
    if _is_constant(first) or _is_constant(second):
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _is_constant(values: Array) -> bool:
    return bool(np.ptp(values) <= 1e-12 * np.abs(values).max())


def augmented(images: Array, rng: np.random.Generator) -> Array:
    """Flip and shift images (n, height, width, channels) at random and add noise; other inputs only get noise."""
    noise = np.asarray(rng.standard_normal(images.shape, dtype=np.float32))
    noise *= NOISE * np.ptp(images)
    if images.ndim == 4:
        number, height, width, _ = images.shape
        rows, columns = _shifted(height, number, rng), _shifted(width, number, rng)
        columns = np.where(rng.random((number, 1)) < 0.5, columns, columns[:, ::-1])
        images = images[np.arange(number)[:, None, None], rows[:, :, None], columns[:, None, :]]
    noise += images
    return noise


def _shifted(size: int, number: int, rng: np.random.Generator) -> Array:
    most = min(SHIFT, size - 1)
    places = np.abs(np.arange(size) + rng.integers(-most, most + 1, (number, 1)))
    reflected: Array = (size - 1) - np.abs((size - 1) - places)
    return reflected
