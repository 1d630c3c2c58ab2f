"""Tests of random changes of images: their distribution, and AutoAugment's operations."""

import numpy as np
import pytest
import tensorflow as tf

from harness.corpus.augmentation import PERTURBATIONS, augment, perturb
from harness.corpus.autoaugment import OPERATIONS, POLICY, cifar10_policy

EVERY = ["crop_flip", "cifar10_policy", *PERTURBATIONS]
RANGES = {"rotation": (-180.0, 179.0), "color_jitter": (-0.25, 0.25)}


def images(number=6, side=8, channels=3, seed=0):
    return np.random.default_rng(seed).random((number, side, side, channels)).astype(np.float32)


def operate(name, batch, level=0.0, sign=1.0):
    return OPERATIONS[name](tf.constant(batch), tf.fill([len(batch)], level), tf.fill([len(batch)], sign)).numpy()


def augmented(name, batch, share=1.0, level=1.0, seed=0):
    tf.random.set_seed(seed)
    return augment(name, share, level, RANGES.get(name, (-0.5, 0.5)))(tf.constant(batch)).numpy()


@pytest.mark.rest
@pytest.mark.parametrize("name", EVERY)
def test_every_augmentation_keeps_the_form_of_images_and_every_epoch_has_another_which_repeats(name):
    for channels in (1, 3, 4):
        batch = images(40, channels=channels)
        changed = augmented(name, batch)
        assert (changed.shape, changed.dtype) == (batch.shape, np.float32)
        assert 0 <= changed.min() <= changed.max() <= 1
        assert not np.array_equal(changed, batch)
        np.testing.assert_array_equal(changed[..., 3:], batch[..., 3:])
        assert not np.array_equal(changed, augmented(name, batch, seed=1))

    def epochs():
        tf.random.set_seed(3)
        change = augment(name, 1.0, 1.0, RANGES.get(name, (-0.5, 0.5)))
        batches = tf.data.Dataset.from_tensor_slices(images(40)).batch(20).map(change)
        return np.array([np.concatenate([part.numpy() for part in batches]) for _ in range(2)])

    both = epochs()
    assert not np.array_equal(*both)
    np.testing.assert_array_equal(epochs(), both)


def test_share_and_level_narrow_what_changes():
    batch = images(2000)
    changed = (augmented("rotation", batch, share=0.5) != batch).any(axis=(1, 2, 3))
    assert 900 < changed.sum() < 1100
    np.testing.assert_array_equal(augmented("rotation", batch, share=0.0), batch)
    batch = np.zeros((500, 1, 101, 1), np.float32)
    batch[:, :, 50] = 1
    for level in (0.5, 1.0):
        moved = np.abs(augmented("translate_x", batch, level=level).argmax(axis=2).ravel() - 50)
        assert 45 * level < moved.max() <= 51 * level
    np.testing.assert_array_equal(augmented("translate_x", batch, level=0.0), batch)


def test_crops_and_mirror_images_are_exact():
    batch = np.tile(images(1, side=12), (300, 1, 1, 1))
    padded = np.pad(batch[0], ((4, 4), (4, 4), (0, 0)))
    crops = [padded[y : y + 12, x : x + 12] for y in range(9) for x in range(9)]
    possible = {crop.tobytes() for crop in crops} | {crop[:, ::-1].tobytes() for crop in crops}
    found = {image.tobytes() for image in augmented("crop_flip", batch)}
    assert found <= possible
    assert len(found) > 100


def test_the_policy_is_the_papers_and_applies_operations_as_often_as_it_says():
    assert len(POLICY) == 25
    assert all(len(operations) == 2 for operations in POLICY)
    used = {name for operations in POLICY for name, _, _ in operations}
    assert used == set(OPERATIONS)
    draws = 20000
    batch = np.tile(images(1, side=4), (draws, 1, 1, 1))
    changed = cifar10_policy(tf.constant(batch), tf.constant([1, 2])).numpy()
    inverted_alone = 0.1 * 0.8 / 25  # the first sub-policy without contrast; another sub-policy can give the same
    share = np.mean(np.abs(changed - (1 - batch)).max(axis=(1, 2, 3)) < 1e-6)
    assert inverted_alone * 0.7 < share < inverted_alone * 1.4


def test_operations_of_auto_augment():
    """Expected values follow from the definitions, for images with 256 levels."""
    dark = (np.arange(256).reshape(1, 16, 16, 1) // 4 / 255).astype(np.float32)  # 64 levels, each four times
    np.testing.assert_allclose(operate("equalize", dark), dark)  # Pillow, too, leaves one with so few pixels
    large = np.tile(dark, (1, 4, 4, 1))  # 64 pixels of each level: Pillow's step is 15
    table = np.minimum((64 * np.arange(64) + 7) // 15, 255)
    np.testing.assert_array_equal(np.unique(np.round(operate("equalize", large) * 255)), np.unique(table))
    wide = operate("auto_contrast", 0.4 + 0.2 * images(3))
    np.testing.assert_allclose(wide.min(axis=(1, 2)), 0, atol=1e-6)
    np.testing.assert_allclose(wide.max(axis=(1, 2)), 1, atol=1e-6)
    flat = np.full((1, 4, 4, 3), 51 / 255, np.float32)
    for name in ("equalize", "auto_contrast"):
        np.testing.assert_allclose(operate(name, flat), flat, err_msg="an image of one colour stays")
    levels = (np.arange(256).reshape(1, 16, 16, 1) / 255).astype(np.float32)
    assert np.unique(np.round(operate("posterize", levels, 7.0) * 255)).tolist() == [0, 64, 128, 192]
    levels = (np.array([0, 127, 128, 255]).reshape(1, 2, 2, 1) / 255).astype(np.float32)
    assert np.round(operate("solarize", levels, 5.0) * 255).ravel().tolist() == [0, 127, 127, 0]
    moved = operate("translate_x", images(side=32), 9.0)
    np.testing.assert_allclose(moved[:, :, 9:], images(side=32)[:, :, :-9], atol=1e-5, err_msg="whole pixels")
    np.testing.assert_allclose(moved[:, :, :9], 0.5)
    for name in ("brightness", "color", "contrast", "sharpness"):
        np.testing.assert_allclose(operate(name, images(), 5.0), images(), atol=1e-5, err_msg="level 5 changes nothing")
    blurred = operate("sharpness", images(), 0.0)
    np.testing.assert_allclose(blurred[:, 0], images()[:, 0], atol=1e-6, err_msg="the border")
    assert blurred[:, 1:-1, 1:-1].var() < images()[:, 1:-1, 1:-1].var()


def test_the_test_perturbation_covers_the_range_and_repeats():
    batch = np.zeros((1500, 1, 101, 4), np.float32)  # more than one part
    batch[:, :, 50, :3], batch[..., 3] = 1, 1
    changed = perturb(batch, "translate_x", (-0.5, 0.25), seed=4)
    moved = changed[:, 0, :, 0].argmax(axis=1) - 50
    assert (moved.min(), moved.max()) in {(-50, 25), (-50, 24), (-49, 25), (-49, 24)}
    assert changed[..., 3].min() == 1
    np.testing.assert_array_equal(changed, perturb(batch, "translate_x", (-0.5, 0.25), seed=4))
    assert not np.array_equal(changed, perturb(batch, "translate_x", (-0.5, 0.25), seed=5))
