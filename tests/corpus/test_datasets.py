"""Tests of images on their way from a source to the trainer, and of errors of sources."""

import gzip
import subprocess
import sys
import types
import zipfile
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from harness.corpus import sources
from harness.corpus.datasets import load_data, with_channels, with_label_noise
from harness.corpus.recipe import DataRecipe
from harness.errors import UserError
from harness.extras import install
from scoring.streams import stream_seed

RANDOM = np.random.default_rng(0)


def load(source, directory, **settings):
    return load_data(DataRecipe(source=source, **settings), directory)


def test_digits_are_divided_as_for_the_demo_tasks_or_by_default_and_have_as_many_classes_as_wanted(tmp_path):
    source = load_digits()
    images, labels = (source.images / 16.0).astype(np.float32)[..., np.newaxis], source.target.astype(np.int32)
    seed = stream_seed("subset", 0, "n_train")
    expected = train_test_split(images, labels, train_size=320, stratify=labels, random_state=seed)
    data = load("digits", tmp_path, n_train=320, n_test=1477, seed=0)
    found = (data.train_inputs, data.test_inputs, data.train_labels, data.test_labels)
    for theirs, ours in zip(expected, found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    assert (data.n_classes, data.notes) == (10, [])
    whole, half = load("digits", tmp_path), load("digits", tmp_path, classes=5)
    assert (len(whole.train_labels), len(whole.test_labels), half.n_classes) == (1348, 449, 5)
    for inputs, labels in (("train_inputs", "train_labels"), ("test_inputs", "test_labels")):
        everything, kept = getattr(whole, inputs), getattr(whole, labels) < 5
        np.testing.assert_array_equal(np.sort(getattr(half, inputs), axis=0), np.sort(everything[kept], axis=0))
        assert set(getattr(half, labels)) == {0, 1, 2, 3, 4}


class TestArrays:
    @pytest.fixture
    def save(self, tmp_path):
        """Return a function that writes 30 training and 15 test images of 3 classes, and returns the arrays."""

        def write(shape=(6, 6), **replaced):
            random, arrays = np.random.default_rng(0), {}
            for part, number in (("train", 30), ("test", 15)):
                arrays[f"x_{part}"] = random.integers(0, 256, (number, *shape), dtype=np.uint8)
                arrays[f"y_{part}"] = np.arange(number) % 3
            np.savez(tmp_path / "data.npz", **(arrays | replaced))
            return arrays | replaced

        return write

    @pytest.fixture
    def read(self, tmp_path):
        return lambda **settings: load("npz", tmp_path, path="data.npz", **settings)

    def test_bytes_become_numbers_between_0_and_1_of_all_classes_or_the_first(self, save, read):
        arrays = save()
        images = {part: arrays[f"x_{part}"].astype(np.float32) / np.float32(255) for part in ("train", "test")}
        data = read()
        np.testing.assert_array_equal(data.train_inputs[..., 0], images["train"])
        np.testing.assert_array_equal(data.test_labels, arrays["y_test"])
        assert (data.train_inputs.dtype, data.train_labels.dtype, data.n_classes) == (np.float32, np.int32, 3)
        data = read(classes=2, n_train=10)
        assert (data.n_classes, len(data.train_labels), len(data.test_labels)) == (2, 10, 10)
        np.testing.assert_array_equal(data.test_inputs[..., 0], images["test"][arrays["y_test"] < 2])
        with pytest.raises(UserError, match=r"data\.classes: expected at most 3, as the source has, found 4"):
            read(classes=4)

    def test_a_subset_is_stratified_and_drawn_from_the_seed_or_refused_as_impossible(self, save, read):
        save()
        for wanted in ({"n_train": 12}, {"train_share": 0.4}):
            first, again, other = (read(seed=seed, n_test=6, **wanted) for seed in (0, 0, 1))
            assert np.bincount(first.train_labels).tolist() == [4, 4, 4]
            assert np.bincount(first.test_labels).tolist() == [2, 2, 2]
            np.testing.assert_array_equal(first.train_inputs, again.train_inputs)
            assert not np.array_equal(first.train_inputs, other.train_inputs)
        for key, number in (("n_train", 31), ("n_train", 2), ("n_test", 16)):
            with pytest.raises(UserError, match=rf"^data\.{key} = {number} of \d+ images: expected"):
                read(**{key: number})

    def test_test_images_that_are_training_images_are_dropped_also_if_only_resizing_makes_them_the_same(
        self, save, read
    ):
        arrays = save(shape=(4, 4))
        save(x_test=np.concatenate([arrays["x_train"][:2], arrays["x_test"][2:]]), shape=(4, 4))
        data = read()
        assert data.notes == ["2 test images that are also training images were dropped"]
        np.testing.assert_array_equal(data.test_labels, arrays["y_test"][2:])
        train, test = ({image.tobytes() for image in part} for part in (data.train_inputs, data.test_inputs))
        assert not train & test
        mirrored = np.concatenate([arrays["x_train"][:1, ::-1, ::-1], arrays["x_test"][1:]])
        save(shape=(4, 4), x_test=mirrored)
        assert read().notes == []
        assert read(resize=1).notes == ["1 test images that are also training images were dropped"]
        save(x_test=arrays["x_train"], y_test=arrays["y_train"], shape=(4, 4))
        with pytest.raises(UserError, match="images: expected at least one that is not a training image, found none"):
            read()

    def test_shrinking_averages_and_growing_keeps_constant_images(self, save, read):
        save(shape=(32, 32), x_train=np.tile(np.array([0, 255], np.uint8), (30, 32, 16)))
        data = read(resize=4)
        assert data.train_inputs.shape == (30, 4, 4, 1)
        np.testing.assert_allclose(data.train_inputs, 0.5, atol=0.02)
        save(x_train=np.full((30, 6, 6), 51, np.uint8))
        data = read(resize=9)
        assert data.test_inputs.shape == (15, 9, 9, 1)
        np.testing.assert_allclose(data.train_inputs, 0.2, atol=1e-6)

    def test_the_test_set_alone_is_perturbed(self, save, read):
        save()
        plain = read()
        first, again = (read(test_perturbation="translate_x", perturbation_range=[-0.5, 0.5]) for _ in range(2))
        np.testing.assert_array_equal(first.train_inputs, plain.train_inputs)
        np.testing.assert_array_equal(first.test_inputs, again.test_inputs)
        assert not np.array_equal(first.test_inputs, plain.test_inputs)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"x_train": np.zeros(30)}, r"x_train: expected shape (N, H, W) or (N, H, W, C), found (30,)"),
            ({"y_train": np.zeros(3, int)}, "y_train: expected shape (30,), found (3,)"),
            ({"y_train": np.zeros(30)}, "y_train: expected integers, found float64"),
            ({"y_test": np.arange(-1, 14)}, "y_test: expected labels 0 to 2147483647, found -1"),
            ({"y_test": np.full(15, 7)}, "y_test: expected labels 0 to 2, found 7"),
            ({"x_train": np.zeros((30, 6, 6), int)}, "x_train: expected uint8, or floats in [0, 1], found int64"),
            ({"x_test": np.full((15, 6, 6), np.nan)}, "x_test: expected numbers in [0, 1], or uint8, found NaN"),
            ({"x_test": np.full((15, 6, 6), 255.0)}, "x_test: expected numbers in [0, 1], or uint8, found 255 to 255"),
            ({"x_test": np.ones((15, 3, 3))}, "x_test: expected shape (6, 6) as in x_train, found (3, 3)"),
        ],
    )
    def test_arrays_that_do_not_fit_are_refused(self, save, read, tmp_path, change, message):
        save(**change)
        with pytest.raises(UserError) as refused:
            read()
        assert str(refused.value) == f"{tmp_path}/data.npz: {message}"

    def test_files_without_arrays_a_bomb_and_what_cannot_be_read_are_refused(self, read, tmp_path):
        file = tmp_path / "data.npz"

        def member(name):
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr(name, b"no array")

        damaged = "damaged: expected a whole zip archive"
        for write, problem in (
            (lambda: None, "cannot be read: found No such file"),
            *(
                (lambda content=one: file.write_bytes(content), damaged)
                for one in (b"", b"PK\x03\x04 damaged", b"text")
            ),
            (lambda: np.savez(file, images=0), "expected x_train, y_train, x_test and y_test, found images"),
            (
                lambda: np.savez_compressed(file, x_train=np.zeros((2**14, 64, 64), np.uint8)),
                "expected at most 100 times the archive's size",
            ),
            (lambda: member("y_train"), "member y_train: expected arrays written by numpy.savez"),
        ):
            write()
            with pytest.raises(UserError) as refused:
                read()
            assert str(refused.value).startswith(f"{file}: ")
            assert problem in str(refused.value)


def test_channels():
    colour = np.array([1.0, 0.5, 0.0], np.float32).reshape(1, 1, 1, 3)
    grey = with_channels(colour, 1)
    np.testing.assert_allclose(grey.ravel(), [0.299 + 0.587 / 2], rtol=1e-6)
    np.testing.assert_array_equal(with_channels(colour, 4).ravel(), [1.0, 0.5, 0.0, 1.0])
    np.testing.assert_array_equal(with_channels(with_channels(colour, 4), 3), colour)
    np.testing.assert_array_equal(with_channels(grey, 3), np.repeat(grey, 3, axis=-1))
    with pytest.raises(UserError, match="channels of the images: expected 1, 3 or 4, found 2"):
        with_channels(colour[..., :2], 3)


def test_label_noise_replaces_exactly_a_share_by_other_classes_and_more_keeps_what_less_has_replaced():
    labels = (np.arange(1000) % 10).astype(np.int32)
    none, little, noisy, much = (with_label_noise(labels, 10, share, seed=5) for share in (0.0, 0.1, 0.3, 0.4))
    assert np.count_nonzero(noisy != labels) == 300
    assert noisy.dtype == np.int32
    assert set(np.unique(noisy)) == set(range(10))
    np.testing.assert_array_equal(none, labels)
    changed = little != labels
    np.testing.assert_array_equal(much[changed], little[changed])


def png(shape=(5, 5, 3)) -> bytes:
    import tensorflow as tf

    return tf.io.encode_png(RANDOM.integers(0, 256, shape, dtype=np.uint8)).numpy()


def write_images(directory, n_train=4, n_test=2):
    """Write directory/{train,test}/{cat,dog}/N.png."""
    for part, number in (("train", n_train), ("test", n_test)):
        for name in ("cat", "dog"):
            (directory / part / name).mkdir(parents=True)
            for n in range(number):
                (directory / part / name / f"{n}.png").write_bytes(png())


@pytest.mark.parametrize("source", ["directory", "cinic10"])
def test_classes_of_a_directory_are_numbered_by_name(tmp_path, source):
    import tensorflow as tf

    write_images(tmp_path / "images")
    (tmp_path / "images/train/dog/._0.png").write_bytes(b"left over")
    (tmp_path / "images/train/.AppleDouble").mkdir()
    data = load(source, tmp_path, path="images")
    assert (data.train_inputs.shape, data.n_classes) == ((8, 5, 5, 3), 2)
    dog = tf.io.decode_image((tmp_path / "images/test/dog/0.png").read_bytes()).numpy() / np.float32(255)
    (position,) = [i for i, image in enumerate(data.test_inputs) if np.array_equal(image, dog)]
    assert data.test_labels[position] == 1


def test_a_directory_is_mixed_and_needs_a_size_for_images_of_several_sizes_and_the_same_classes(tmp_path):
    def refused(problem):
        with pytest.raises(UserError, match=problem):
            load("directory", tmp_path, path=".")

    refused("train: no such directory")
    write_images(tmp_path, n_train=20, n_test=1)
    assert 0 < load("directory", tmp_path, path=".").train_labels[:20].sum() < 20
    (tmp_path / "train/cat/wide.png").write_bytes(png((5, 9, 1)))
    refused(r"expected the same for all, found .*; set data\.resize and data\.channels")
    data = load("directory", tmp_path, path=".", resize=4, channels=3)
    assert data.train_inputs.shape == (41, 4, 4, 3)
    (tmp_path / "train/cat/wide.png").unlink()
    (tmp_path / "test/dog/bad.png").write_text("nothing")
    refused(r"test/dog/bad\.png: not an image: expected PNG, JPEG or BMP")
    (tmp_path / "test/fox").mkdir()
    refused("test: class fox: expected a class of train")


def write_mnist(directory):
    """Write 20 training and 10 test images in the file format of MNIST; return the test images and their labels."""
    directory.mkdir(parents=True)
    for part, number in (("train", 20), ("t10k", 10)):
        images = RANDOM.integers(0, 256, (number, 28, 28), dtype=np.uint8)
        labels = (np.arange(number) % 10).astype(np.uint8)
        for name, numbers in (("images-idx3", images), ("labels-idx1", labels)):
            shape = b"".join(size.to_bytes(4, "big") for size in numbers.shape)
            content = gzip.compress(b"\0\0\x08" + bytes([numbers.ndim]) + shape + numbers.tobytes())
            (directory / f"{part}-{name}-ubyte.gz").write_bytes(content)
    return images, labels


class TestKeras:
    """Tests of datasets that Keras has kept, or Debian has installed; nothing is downloaded."""

    @pytest.fixture
    def home(self, tmp_path, monkeypatch):
        """A directory that Keras takes for ~/.keras; Debian's package would be in `installed`."""
        import keras.src.backend.config as config

        monkeypatch.setattr(config, "_KERAS_DIR", str(tmp_path))
        monkeypatch.setenv("KERAS_HOME", str(tmp_path))
        monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nothing listens
        monkeypatch.setattr(sources, "INSTALLED", {"fashion_mnist": (tmp_path / "installed", "the-package")})
        return tmp_path

    @pytest.mark.parametrize(
        ("name", "directory"),
        [("fashion_mnist", "datasets/fashion-mnist"), ("mnist", "datasets/mnist"), ("fashion_mnist", "installed")],
    )
    def test_original_files_that_are_there(self, home, name, directory):
        images, labels = write_mnist(home / directory)
        data = load(name, home, n_train=10)
        assert (data.train_inputs.shape, data.n_classes) == ((10, 28, 28, 1), 10)
        assert load(name, home).train_inputs.shape == (20, 28, 28, 1)
        np.testing.assert_array_equal(data.test_inputs[..., 0], images.astype(np.float32) / np.float32(255))
        np.testing.assert_array_equal(data.test_labels, labels)

    @pytest.mark.parametrize("name", list(sources.KERAS))
    def test_without_a_download_its_address_and_the_place_where_keras_looks_are_named(self, home, name, monkeypatch):
        asked = []

        def no_network(*arguments):
            asked.append(arguments[:2])
            raise URLError("no network")

        monkeypatch.setattr("keras.src.utils.file_utils.urlretrieve", no_network)
        with pytest.raises(UserError) as refused:
            load(name, home)
        message = str(refused.value)
        _, url, kept = sources.KERAS[name]
        assert name == "fashion_mnist" or asked == [(url, str(home / "datasets" / kept))]
        assert message.startswith(f"cannot load {name}: found URL fetch failure on https://")
        package = "install Debian's package the-package, or " if name == "fashion_mnist" else ""
        saved = f"where that is possible and save it here as {home}/datasets/{kept}"
        assert message.endswith(f"; {package}download {url} {saved}")
        assert "\n" not in message

    @pytest.mark.parametrize(
        ("file", "content", "found"),
        [
            ("train-images-idx3", b"no archive", "expected a file compressed by gzip, found Not a gzipped file"),
            ("train-images-idx3", gzip.compress(bytes(8)), "an array of 3 axes, in the format of MNIST, found 0 bytes"),
            ("t10k-labels-idx1", gzip.compress(b"\0\0\x08\x01\0\0\0\x09" + bytes(9)), "expected 10, one for each"),
            ("train-labels-idx1", None, "cannot be read"),
        ],
        ids=["no archive", "too short", "another number of labels", "missing"],
    )
    def test_a_damaged_or_missing_installed_file_is_named(self, home, file, content, found):
        write_mnist(home / "installed")
        path = home / "installed" / f"{file}-ubyte.gz"
        path.unlink() if content is None else path.write_bytes(content)
        with pytest.raises(UserError) as refused:
            load("fashion_mnist", home)
        assert str(refused.value).startswith(f"{path}: ")
        assert found in str(refused.value)


def test_tensorflow_datasets_are_decoded_and_resized_or_what_to_install_or_run_is_named(tmp_path, monkeypatch):
    """A stand-in takes the place of TensorFlow Datasets."""
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", None)
    with pytest.raises(UserError) as refused:
        load("svhn", tmp_path)
    assert str(refused.value) == f"dataset svhn: expected TensorFlow Datasets, found none; {install('datasets')}"

    def read(name, split, decoders):
        if name == "svhn_cropped":
            raise ConnectionError("no network\nand more")
        assert (name, split, list(decoders)) == ("oxford_iiit_pet", ["train", "test"], ["image"])
        return [[{"image": png((8, 6 + i, 3)), "label": i, "file_name": b""} for i in range(n)] for n in (3, 2)]

    library = types.SimpleNamespace(load=read, as_numpy=lambda part: part)
    library.decode = types.SimpleNamespace(SkipDecoding=object)
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", library)
    data = load("oxford_iiit_pet", tmp_path, resize=4, channels=4)
    assert (data.train_inputs.shape, data.test_inputs[..., 3].min()) == ((3, 4, 4, 4), 1)
    assert (data.test_labels.tolist(), data.n_classes) == ([0, 1], 37)
    with pytest.raises(UserError, match=r"^cannot load svhn: found no network; run python .*svhn_cropped to the same"):
        load("svhn", tmp_path)


def test_nothing_heavy_is_imported_with_the_modules():
    modules = "harness.corpus.datasets, harness.format.shards, harness.format.weights, harness.format.reference"
    program = f"import sys, {modules}; print({{'tensorflow', 'keras'}} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "set()"
