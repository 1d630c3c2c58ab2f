"""The margin measure of the PGDL winners: distances in the first layer, on augmented or mixed examples."""

import math

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.memory import require_memory
from baselines.core.requirements import require_unit_range
from baselines.core.sample import Array, Sample
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.margin.layer_margin import margins_at
from baselines.network import Network

#: Number that is added to norms of gradients and to standard deviations.
SMALL = 1e-7

#: Number of features whose variances are computed at once.
COLUMNS = 2**13

#: Sides of crops, as fractions of the image's side: 0.85, 0.86, ..., 1.
CROPS = np.linspace(0.85, 1, 16)


@measure(Need.LABELS, Need.GRADIENTS, Need.QUANTITIES)
def layer_margin_winner(subject: Subject, *, n_samples: int = 500, data: str = "augmented", seed: int = 0) -> float:
    """Minus the mean normalized margin in the first layer, on augmented examples.

    Formula: -E (f_y - f_j) / (|d (f_y - f_j) / d x^1| + 1e-7) / (sqrt(v) + 1e-7), f the logits, y the true class, j the
    best other class, x^1 the output of the first weight layer, v the mean of its features' variances without the
    smallest and the largest 5 %. Source: Natekar and Sharma 2020, arXiv 2012.02775. Draws: depend on the order of
    examples.

    Args:
        data: "augmented" (random flip, hue, saturation, brightness, contrast and crop of each image) or "mixup"
            (averages of two examples of a class).
    """
    from scipy.stats import trim_mean

    network, sample = subject.network, subject.sample(n_samples, seed)
    if data not in ("augmented", "mixup"):
        raise ValueError(f"data: expected augmented or mixup, found {data}")
    if data == "augmented":
        require_unit_range(subject)
    images = augmented(sample.inputs, seed) if data == "augmented" else mixed(sample, seed)
    place = network.layers[_first(network)][1]
    what = f"what {len(sample)} examples are in the first layer"
    require_memory(4 * len(sample) * math.prod(network.shape(place)), what, "try a smaller n_samples")
    margins, lengths, features = margins_at(network, place, images, sample.labels)
    distances = (margins / (lengths + np.float32(SMALL))).astype(np.float64)
    spreads = _variances(features.reshape(len(features), -1))
    return -float(distances.mean() / (np.sqrt(trim_mean(spreads, 0.05)) + SMALL))


def _variances(rows: Array) -> Array:
    starts = range(0, rows.shape[1], COLUMNS)
    return np.concatenate([rows[:, i : i + COLUMNS].var(axis=0, dtype=np.float64) for i in starts])


def _first(network: Network) -> int:
    for number in range(len(network.layers)):
        if any(network.nodes[place].has_kernel for place in network.nodes_of(number)):
            return number
    raise MeasureUnavailable("needs a layer with filters or units, which this network lacks")


def mixed(sample: Sample, seed: int) -> Array:
    """Return averages (n, ...) of each example and another of its class; the only example of a class is unchanged."""
    rng = stream("partners of the winner's margin", seed)
    partners = np.arange(len(sample))
    for label in np.unique(sample.labels):
        members = rng.permutation(np.flatnonzero(sample.labels == label))
        partners[members] = np.roll(members, 1)
    middle: Array = (sample.inputs + sample.inputs[partners]) / 2
    return middle


def augmented(images: Array, seed: int) -> Array:
    """Return images (n, height, width, channels) augmented as by the winners, each with its own draws.

    An image is flipped with probability 1/2. With probability 1/2, it is cropped at the centre and resized. Hue is
    shifted by up to 0.05 of the colour wheel, brightness by up to 0.05; saturation is multiplied by 0.6 to 1.2,
    contrast by 0.7 to 1. Hue and saturation need three channels or more; a fourth channel is only flipped and cropped.
    """
    if images.ndim != 4:
        raise MeasureUnavailable(
            f"needs images (height, width, channels), which inputs of shape {images.shape[1:]} are not"
        )
    rng = stream("changes of the winner's margin", seed)
    mirrored = rng.random(len(images)) < 0.5
    images = np.where(mirrored[:, None, None, None], images[:, :, ::-1], images)
    changed = np.concatenate([_recoloured(images[..., :3], rng), images[..., 3:]], axis=-1).astype(np.float32)
    return _enlarged(changed, rng)


def _recoloured(images: Array, rng: np.random.Generator) -> Array:
    number = len(images)
    hues, saturations = rng.uniform(-0.05, 0.05, number), rng.uniform(0.6, 1.2, number)
    brightness, contrast = (rng.uniform(*bounds, (number, 1, 1, 1)) for bounds in ((-0.05, 0.05), (0.7, 1.0)))
    if images.shape[-1] == 3:
        images = np.stack([
            tf.image.adjust_saturation(tf.image.adjust_hue(*one), saturation)
            for *one, saturation in zip(images, hues, saturations, strict=True)
        ])  # fmt: skip
    brighter = images + brightness
    mean = brighter.mean(axis=(1, 2), keepdims=True)
    recoloured: Array = mean + contrast * (brighter - mean)
    return recoloured


def _enlarged(images: Array, rng: np.random.Generator) -> Array:
    chosen = np.flatnonzero(rng.random(len(images)) < 0.5)
    margins = (1 - rng.choice(CROPS, len(chosen))) / 2
    boxes = np.stack([margins, margins, 1 - margins, 1 - margins], axis=1)
    if len(chosen):
        images[chosen] = tf.image.crop_and_resize(images[chosen], boxes, np.arange(len(chosen)), images.shape[1:3])
    return images
