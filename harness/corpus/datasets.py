"""Turns a dataset into the arrays on which the models of a task are trained and tested."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from harness.corpus.sources import Array, DistributedDataset, EncodedImages, Split, read_source
from harness.errors import UserError
from scoring.streams import stream, stream_seed

if TYPE_CHECKING:
    from harness.corpus.recipe import DataRecipe

#: Fraction of images for training, if neither source nor recipe says which images are test images.
DEFAULT_TRAIN_SHARE = 0.75

#: Weights of red, green and blue in the luminance (grey value), by ITU-R BT.601.
LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)

Inputs = NDArray[np.float32]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Data:
    """The training and test data of a task."""

    train_inputs: Inputs  #: (N, H, W, C) in [0, 1]
    train_labels: Labels  #: (N,), in 0..n_classes-1, without noise
    test_inputs: Inputs  #: like `train_inputs`, and perturbed if the recipe says so
    test_labels: Labels  #: like `train_labels`
    n_classes: int
    notes: list[str] = field(default_factory=list)  #: notes for the user, a line each


def load_data(recipe: "DataRecipe", base: Path) -> Data:
    """Load the data that a recipe describes. Relative paths in the recipe start at `base`.

    Subsets are stratified by class, and drawn with the recipe's seed. Test images that equal a training image, byte for
    byte, are left out. Raise `UserError` if the data cannot be loaded, or do not suit the recipe.
    """
    source = read_source(recipe, base)
    if recipe.classes is not None:
        source = _first_classes(source, recipe.classes, recipe.seed)
    train, test = source.train, source.test
    n_train = _wanted_train(recipe, len(train.labels), divided=test is not None)
    chosen, tested = _stratified(train.labels, n_train, recipe.seed, "n_train")
    if test is None:
        test = train
    else:
        tested = np.arange(len(test.labels))
    if recipe.n_test is not None:
        picked, _ = _stratified(test.labels[tested], recipe.n_test, recipe.seed, "n_test")
        tested = tested[picked]
    train_inputs = _prepared(train, chosen, recipe)
    test_inputs, test_labels = _prepared(test, tested, recipe), test.labels[tested]
    new = not_in(train_inputs, test_inputs)
    notes = []
    if not new.all():
        notes.append(f"{np.count_nonzero(~new)} test images that are also training images were dropped")
        test_inputs, test_labels = test_inputs[new], test_labels[new]
    if not len(test_labels):
        raise UserError("test images", expected="at least one that is not a training image", found="none")
    if recipe.test_perturbation != "none" and recipe.perturbation_range is not None:
        from harness.corpus.augmentation import perturb

        test_inputs = perturb(test_inputs, recipe.test_perturbation, recipe.perturbation_range, recipe.seed)
    return Data(train_inputs, train.labels[chosen], test_inputs, test_labels, source.n_classes, notes)


def with_label_noise(labels: Labels, n_classes: int, share: float, seed: int) -> Labels:
    """Replace a fraction `share` of the labels (N,) by other classes, drawn uniformly.

    With the same seed, a larger share includes the replacements of a smaller share.
    """
    random = stream("label noise", seed)
    replaced = random.permutation(len(labels))[: round(share * len(labels))]
    others = random.integers(1, n_classes, len(labels), dtype=np.int32)
    noisy = labels.copy()
    noisy[replaced] = (labels[replaced] + others[replaced]) % n_classes
    return noisy


def _first_classes(source: DistributedDataset, number: int, seed: int) -> DistributedDataset:
    """Return the first `number` classes. A missing test set is first drawn from the training images of all classes."""
    if number > source.n_classes:
        raise UserError("data.classes", expected=f"at most {source.n_classes}, as the source has", found=number)
    train, test = source.train, source.test
    if test is None:
        kept = round(DEFAULT_TRAIN_SHARE * len(train.labels))
        chosen, rest = _stratified(train.labels, kept, seed, "n_train")
        train, test = train.at(chosen), train.at(rest)
    first, of_test = (part.at(np.flatnonzero(part.labels < number)) for part in (train, test))
    return DistributedDataset(first, of_test, number)


def _wanted_train(recipe: "DataRecipe", available: int, divided: bool) -> int:
    if recipe.n_train is not None:
        return recipe.n_train
    if recipe.train_share is not None:
        return round(recipe.train_share * available)
    return available if divided else round(DEFAULT_TRAIN_SHARE * available)


def _stratified(labels: Labels, number: int, seed: int, key: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions of a random subset of `number` labels, stratified by class, and all other positions."""
    from sklearn.model_selection import train_test_split

    positions = np.arange(len(labels))
    if number == len(labels):
        return positions, positions[:0]
    try:
        chosen, rest = train_test_split(
            positions, train_size=number, stratify=labels, random_state=stream_seed("subset", seed, key)
        )
    except ValueError as error:  # too many images, or fewer images than classes
        setting = f"data.{key} = {number} of {len(labels)} images"
        raise UserError(setting, expected="a number that gives every class a share", found=error) from error
    return chosen, rest


def _prepared(split: Split, positions: NDArray[np.intp], recipe: "DataRecipe") -> Inputs:
    """Return the images at `positions`, (N, H, W, C) in [0, 1], with the size and channels that the recipe requests."""
    if not isinstance(split.images, EncodedImages):
        return _prepare(split.images[positions], recipe)
    images = [_prepare(split.images[int(position)][np.newaxis], recipe)[0] for position in positions]
    shapes = sorted({image.shape for image in images})
    if len(shapes) > 1:
        found = " and ".join(str(shape) for shape in shapes[:3])
        remedy = "set data.resize and data.channels"
        raise UserError("shape of the images", expected="the same for all", found=found, remedy=remedy)
    return np.stack(images)


def _prepare(images: Array, recipe: "DataRecipe") -> Inputs:
    if images.ndim == 3:
        images = images[..., np.newaxis]
    inputs = images.astype(np.float32)
    if images.dtype == np.uint8:
        inputs /= np.float32(255)
    if recipe.resize is not None and inputs.shape[1:3] != (recipe.resize, recipe.resize):
        inputs = _resized(inputs, recipe.resize)
    if recipe.channels is not None:
        inputs = with_channels(inputs, recipe.channels)
    return inputs


def with_channels(images: Inputs, number: int) -> Inputs:
    """Convert images (N, H, W, C) to `number` channels: 1, 3 or 4. Grey is luminance, a fourth channel is 1 (opaque).

    Raise `UserError` unless the images have 1, 3 or 4 channels.
    """
    present = images.shape[-1]
    if present not in (1, 3, 4):
        raise UserError("channels of the images", expected="1, 3 or 4", found=present)
    if present == number:
        return images
    colours = images[..., :3]
    if number == 1:
        return (colours @ LUMINANCE)[..., np.newaxis]
    if present == 1:
        colours = np.repeat(colours, 3, axis=-1)
    opaque = np.ones_like(colours[..., :1])
    return np.ascontiguousarray(colours) if number == 3 else np.concatenate([colours, opaque], axis=-1)


def _resized(images: Inputs, side: int) -> Inputs:
    """Resize images to squares, by bilinear interpolation with antialiasing."""
    import tensorflow as tf

    resized: Any = tf.image.resize(images, [side, side], method="bilinear", antialias=True)
    return np.asarray(np.clip(resized.numpy(), 0.0, 1.0), np.float32)


def not_in(known: Inputs, images: Inputs) -> NDArray[np.bool_]:
    """Return an array (N,): whether each of N images differs from all images in `known`."""
    seen = {_digest(image) for image in known}
    return np.array([_digest(image) not in seen for image in images], dtype=bool)


def _digest(image: Inputs) -> bytes:
    return hashlib.blake2b(image.tobytes(), digest_size=16).digest()
