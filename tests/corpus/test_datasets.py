"""Tests of images on their way from a source to the trainer."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from harness.corpus.datasets import load_data, with_channels, with_label_noise
from harness.corpus.recipe import DataRecipe
from harness.errors import UserError
from scoring.streams import stream_seed


def save(path, n_train=30, n_test=15, shape=(6, 6), n_classes=3, **replaced):
    """Write an .npz file of random images; `replaced` arrays take the place of arrays of the same name."""
    random = np.random.default_rng(0)
    arrays = {
        "x_train": random.integers(0, 256, (n_train, *shape), dtype=np.uint8),
        "y_train": np.arange(n_train) % n_classes,
        "x_test": random.integers(0, 256, (n_test, *shape), dtype=np.uint8),
        "y_test": np.arange(n_test) % n_classes,
    } | replaced
    np.savez(path, **arrays)
    return arrays


def load(tmp_path, **settings):
    return load_data(DataRecipe(source="npz", path="data.npz", **settings), tmp_path)


def test_digits_are_divided_as_for_the_demo_tasks_or_by_default(tmp_path):
    source = load_digits()
    images, labels = (source.images / 16.0).astype(np.float32)[..., np.newaxis], source.target.astype(np.int32)
    seed = stream_seed("subset", 0, "n_train")
    expected = train_test_split(images, labels, train_size=320, stratify=labels, random_state=seed)
    data = load_data(DataRecipe(source="digits", n_train=320, n_test=1477, seed=0), tmp_path)
    found = (data.train_inputs, data.test_inputs, data.train_labels, data.test_labels)
    for theirs, ours in zip(expected, found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    assert (data.n_classes, data.notes) == (10, [])
    data = load_data(DataRecipe(source="digits"), tmp_path)
    assert (len(data.train_labels), len(data.test_labels)) == (1348, 449)


def test_the_first_classes_have_the_test_images_that_they_have_among_all(tmp_path):
    all_of_them = load_data(DataRecipe(source="digits"), tmp_path)
    half = load_data(DataRecipe(source="digits", classes=5), tmp_path)
    for part in ("train", "test"):
        images, labels = (getattr(half, f"{part}_{name}") for name in ("inputs", "labels"))
        everything, kept = getattr(all_of_them, f"{part}_inputs"), getattr(all_of_them, f"{part}_labels") < 5
        np.testing.assert_array_equal(np.sort(images, axis=0), np.sort(everything[kept], axis=0))
        assert set(labels) == {0, 1, 2, 3, 4}
    assert half.n_classes == 5


def test_bytes_become_numbers_between_0_and_1_of_all_classes_or_the_first(tmp_path):
    arrays = save(tmp_path / "data.npz")
    images = {part: arrays[f"x_{part}"].astype(np.float32) / np.float32(255) for part in ("train", "test")}
    data = load(tmp_path)
    np.testing.assert_array_equal(data.train_inputs[..., 0], images["train"])
    np.testing.assert_array_equal(data.test_labels, arrays["y_test"])
    assert (data.train_inputs.dtype, data.train_labels.dtype, data.n_classes) == (np.float32, np.int32, 3)
    data = load(tmp_path, classes=2, n_train=10)
    assert (data.n_classes, len(data.train_labels), len(data.test_labels)) == (2, 10, 10)
    np.testing.assert_array_equal(data.test_inputs[..., 0], images["test"][arrays["y_test"] < 2])
    with pytest.raises(UserError, match=r"data\.classes: expected at most 3, as the source has, found 4"):
        load(tmp_path, classes=4)


@pytest.mark.parametrize("wanted", [{"n_train": 12}, {"train_share": 0.4}])
def test_a_subset_is_stratified_and_drawn_from_the_seed(tmp_path, wanted):
    save(tmp_path / "data.npz")
    first, again, other = (load(tmp_path, seed=seed, n_test=6, **wanted) for seed in (0, 0, 1))
    assert np.bincount(first.train_labels).tolist() == [4, 4, 4]
    assert np.bincount(first.test_labels).tolist() == [2, 2, 2]
    np.testing.assert_array_equal(first.train_inputs, again.train_inputs)
    assert not np.array_equal(first.train_inputs, other.train_inputs)


@pytest.mark.parametrize(("key", "number"), [("n_train", 31), ("n_train", 2), ("n_test", 16)])
def test_a_subset_that_is_impossible_is_refused(tmp_path, key, number):
    save(tmp_path / "data.npz")
    with pytest.raises(UserError, match=rf"^data\.{key} = {number} of \d+ images: expected"):
        load(tmp_path, **{key: number})


def test_test_images_that_are_training_images_are_dropped(tmp_path):
    arrays = save(tmp_path / "data.npz")
    save(tmp_path / "data.npz", x_test=np.concatenate([arrays["x_train"][:2], arrays["x_test"][2:]]))
    data = load(tmp_path)
    assert data.notes == ["2 test images that are also training images were dropped"]
    np.testing.assert_array_equal(data.test_labels, arrays["y_test"][2:])
    train, test = ({image.tobytes() for image in part} for part in (data.train_inputs, data.test_inputs))
    assert not train & test
    save(tmp_path / "data.npz", x_test=arrays["x_train"], y_test=arrays["y_train"])
    with pytest.raises(UserError, match="test images: expected at least one that is not a training image, found none"):
        load(tmp_path)


def test_images_that_only_resizing_makes_the_same_are_dropped_too(tmp_path):
    arrays = save(tmp_path / "data.npz", shape=(4, 4))
    mirrored = arrays["x_test"].copy()
    mirrored[0] = arrays["x_train"][0][::-1, ::-1]
    save(tmp_path / "data.npz", shape=(4, 4), x_test=mirrored)
    assert load(tmp_path).notes == []
    assert load(tmp_path, resize=1).notes == ["1 test images that are also training images were dropped"]


def test_shrinking_averages_and_growing_keeps_constant_images(tmp_path):
    stripes = np.tile(np.array([0, 255], np.uint8), (30, 32, 16))
    save(tmp_path / "data.npz", shape=(32, 32), x_train=stripes)
    data = load(tmp_path, resize=4)
    assert data.train_inputs.shape == (30, 4, 4, 1)
    np.testing.assert_allclose(data.train_inputs, 0.5, atol=0.02)
    save(tmp_path / "data.npz", x_train=np.full((30, 6, 6), 51, np.uint8))
    data = load(tmp_path, resize=9)
    assert data.test_inputs.shape == (15, 9, 9, 1)
    np.testing.assert_allclose(data.train_inputs, 0.2, atol=1e-6)


def test_channels():
    colour = np.array([1.0, 0.5, 0.0], np.float32).reshape(1, 1, 1, 3)
    grey = with_channels(colour, 1)
    np.testing.assert_allclose(grey.ravel(), [0.299 + 0.587 / 2], rtol=1e-6)
    np.testing.assert_array_equal(with_channels(colour, 4).ravel(), [1.0, 0.5, 0.0, 1.0])
    np.testing.assert_array_equal(with_channels(with_channels(colour, 4), 3), colour)
    np.testing.assert_array_equal(with_channels(grey, 3), np.repeat(grey, 3, axis=-1))
    with pytest.raises(UserError, match="channels of the images: expected 1, 3 or 4, found 2"):
        with_channels(colour[..., :2], 3)


def test_the_test_set_alone_is_perturbed(tmp_path):
    save(tmp_path / "data.npz")
    plain = load(tmp_path)
    first, again = (load(tmp_path, test_perturbation="translate_x", perturbation_range=[-0.5, 0.5]) for _ in range(2))
    np.testing.assert_array_equal(first.train_inputs, plain.train_inputs)
    np.testing.assert_array_equal(first.test_inputs, again.test_inputs)
    assert not np.array_equal(first.test_inputs, plain.test_inputs)


def test_label_noise_replaces_exactly_a_share_by_other_classes_and_more_keeps_what_less_has_replaced():
    labels = (np.arange(1000) % 10).astype(np.int32)
    noisy = with_label_noise(labels, 10, 0.3, seed=5)
    assert np.count_nonzero(noisy != labels) == 300
    assert noisy.dtype == np.int32
    assert set(np.unique(noisy)) == set(range(10))
    np.testing.assert_array_equal(with_label_noise(labels, 10, 0.0, seed=5), labels)
    little, much = (with_label_noise(labels, 10, share, seed=5) for share in (0.1, 0.4))
    changed = little != labels
    np.testing.assert_array_equal(much[changed], little[changed])
