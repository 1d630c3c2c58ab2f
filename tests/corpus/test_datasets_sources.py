"""Tests of sources of images, and of their errors."""

import gzip
import subprocess
import sys
import types
import zipfile
from urllib.error import URLError

import numpy as np
import pytest

from harness.corpus import sources
from harness.corpus.datasets import load_data
from harness.corpus.recipe import DataRecipe
from harness.errors import UserError
from harness.extras import install

RANDOM = np.random.default_rng(0)


def load(source, directory, **settings):
    return load_data(DataRecipe(source=source, **settings), directory)


def png(shape=(5, 5, 3)) -> bytes:
    import tensorflow as tf

    return tf.io.encode_png(RANDOM.integers(0, 256, shape, dtype=np.uint8)).numpy()


def write_images(directory, classes=("cat", "dog"), n_train=4, n_test=2):
    """Write directory/{train,test}/CLASS/N.png."""
    for part, number in (("train", n_train), ("test", n_test)):
        for name in classes:
            (directory / part / name).mkdir(parents=True)
            for n in range(number):
                (directory / part / name / f"{n}.png").write_bytes(png())


def write_idx(file, numbers):
    """Write an array in the file format of MNIST."""
    shape = b"".join(size.to_bytes(4, "big") for size in numbers.shape)
    file.write_bytes(gzip.compress(b"\0\0\x08" + bytes([numbers.ndim]) + shape + numbers.tobytes()))


def write_mnist(directory):
    """Write 20 training and 10 test images; return the test images and their labels."""
    for part, number in (("train", 20), ("t10k", 10)):
        images = RANDOM.integers(0, 256, (number, 28, 28), dtype=np.uint8)
        labels = (np.arange(number) % 10).astype(np.uint8)
        write_idx(directory / f"{part}-images-idx3-ubyte.gz", images)
        write_idx(directory / f"{part}-labels-idx1-ubyte.gz", labels)
    return images, labels


class TestNpz:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"x_train": np.zeros(4)}, r"x_train: expected shape (N, H, W) or (N, H, W, C), found (4,)"),
            ({"y_train": np.zeros(3, int)}, "y_train: expected shape (4,), found (3,)"),
            ({"y_train": np.zeros(4)}, "y_train: expected integers, found float64"),
            ({"y_test": np.array([0, -1])}, "y_test: expected labels 0 to 2147483647, found -1"),
            ({"y_test": np.array([0, 7])}, "y_test: expected labels 0 to 1, found 7"),
            ({"x_train": np.zeros((4, 2, 2), int)}, "x_train: expected uint8, or floats in [0, 1], found int64"),
            ({"x_test": np.full((2, 2, 2), np.nan)}, "x_test: expected numbers in [0, 1], or uint8, found NaN"),
            ({"x_test": np.full((2, 2, 2), 255.0)}, "x_test: expected numbers in [0, 1], or uint8, found 255 to 255"),
            ({"x_test": np.ones((2, 3, 3))}, "x_test: expected shape (2, 2) as in x_train, found (3, 3)"),
        ],
    )
    def test_what_is_refused(self, tmp_path, change, message):
        train, test = np.array([0, 1, 0, 1]), np.array([0, 1])
        good = {"x_train": np.zeros((4, 2, 2)), "y_train": train, "x_test": np.ones((2, 2, 2)), "y_test": test}
        np.savez(tmp_path / "data.npz", **(good | change))
        with pytest.raises(UserError) as refused:
            load("npz", tmp_path, path="data.npz")
        assert str(refused.value) == f"{tmp_path}/data.npz: {message}"

    @pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 damaged", b"text"])
    def test_a_file_that_cannot_be_read(self, tmp_path, content):
        if content is not None:
            (tmp_path / "data.npz").write_bytes(content)
        problem = "cannot be read: found No such file" if content is None else "damaged: expected a whole zip archive"
        with pytest.raises(UserError, match=rf"data\.npz: {problem}"):
            load("npz", tmp_path, path="data.npz")

    def test_other_arrays_a_bomb_and_what_is_no_array_are_refused(self, tmp_path):
        np.savez(tmp_path / "data.npz", images=np.zeros((4, 2, 2)))
        with pytest.raises(UserError, match="expected x_train, y_train, x_test and y_test, found images"):
            load("npz", tmp_path, path="data.npz")
        np.savez_compressed(tmp_path / "data.npz", x_train=np.zeros((2**14, 64, 64), np.uint8))
        with pytest.raises(UserError, match="expected at most 100 times the archive's size"):
            load("npz", tmp_path, path="data.npz")
        with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
            archive.writestr("y_train", b"no array")
        with pytest.raises(UserError, match=r"member y_train: expected arrays written by numpy\.savez"):
            load("npz", tmp_path, path="data.npz")


class TestDirectory:
    @pytest.mark.parametrize("source", ["directory", "cinic10"])
    def test_classes_are_numbered_by_name(self, tmp_path, source):
        import tensorflow as tf

        write_images(tmp_path / "images")
        (tmp_path / "images/train/dog/._0.png").write_bytes(b"left over")
        (tmp_path / "images/train/.AppleDouble").mkdir()
        data = load(source, tmp_path, path="images")
        assert data.train_inputs.shape == (8, 5, 5, 3)
        assert data.n_classes == 2
        dog = tf.io.decode_image((tmp_path / "images/test/dog/0.png").read_bytes()).numpy() / np.float32(255)
        (position,) = [i for i, image in enumerate(data.test_inputs) if np.array_equal(image, dog)]
        assert data.test_labels[position] == 1

    def test_the_order_mixes_the_classes(self, tmp_path):
        write_images(tmp_path, n_train=20, n_test=1)
        labels = load("directory", tmp_path, path=".").train_labels
        assert 0 < labels[:20].sum() < 20

    def test_images_of_several_sizes_need_a_size(self, tmp_path):
        write_images(tmp_path)
        (tmp_path / "train/cat/wide.png").write_bytes(png((5, 9, 1)))
        with pytest.raises(
            UserError, match=r"expected the same for all, found .*; set data\.resize and data\.channels"
        ):
            load("directory", tmp_path, path=".")
        data = load("directory", tmp_path, path=".", resize=4, channels=3)
        assert data.train_inputs.shape == (9, 4, 4, 3)

    def test_what_is_missing_or_no_image(self, tmp_path):
        with pytest.raises(UserError, match="train: no such directory"):
            load("directory", tmp_path, path=".")
        write_images(tmp_path)
        (tmp_path / "test/dog/bad.png").write_text("nothing")
        with pytest.raises(UserError, match=r"test/dog/bad\.png: not an image: expected PNG, JPEG or BMP"):
            load("directory", tmp_path, path=".")
        (tmp_path / "test/fox").mkdir()
        with pytest.raises(UserError, match="test: class fox: expected a class of train"):
            load("directory", tmp_path, path=".")


class TestKeras:
    @pytest.fixture
    def home(self, tmp_path, monkeypatch):
        """A directory that Keras takes for ~/.keras."""
        import keras.src.backend.config as config

        monkeypatch.setattr(config, "_KERAS_DIR", str(tmp_path))
        monkeypatch.setenv("KERAS_HOME", str(tmp_path))
        monkeypatch.setattr(sources, "INSTALLED", {})
        return tmp_path

    @pytest.mark.parametrize(("name", "directory"), [("fashion_mnist", "fashion-mnist"), ("mnist", "mnist")])
    def test_original_files_that_are_there(self, home, name, directory):
        folder = home / "datasets" / directory
        folder.mkdir(parents=True)
        images, labels = write_mnist(folder)
        data = load(name, home, n_train=10)
        assert data.train_inputs.shape == (10, 28, 28, 1)
        np.testing.assert_array_equal(data.test_inputs[..., 0], images.astype(np.float32) / np.float32(255))
        np.testing.assert_array_equal(data.test_labels, labels)
        assert data.n_classes == 10

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
        assert message.endswith(f"; download {url} where that is possible and save it here as {home}/datasets/{kept}")
        assert "\n" not in message


class TestInstalled:
    """Fashion-MNIST from Debian's package, without a network and without Keras' cache."""

    @pytest.fixture
    def directory(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sources, "INSTALLED", {"fashion_mnist": (tmp_path / "installed", "the-package")})
        monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nothing listens: no download
        return tmp_path / "installed"

    @pytest.fixture
    def test_part(self, directory):
        directory.mkdir()
        return write_mnist(directory)

    def test_images_and_labels(self, directory, test_part):
        data = load("fashion_mnist", directory)
        assert data.train_inputs.shape == (20, 28, 28, 1)
        np.testing.assert_array_equal(data.test_inputs[..., 0], test_part[0].astype(np.float32) / np.float32(255))
        np.testing.assert_array_equal(data.test_labels, test_part[1])

    @pytest.mark.parametrize(
        ("file", "content", "found"),
        [
            ("train-images-idx3", b"no archive", "expected a file compressed by gzip, found Not a gzipped file"),
            ("train-images-idx3", gzip.compress(bytes(8)), "an array of 3 axes, in the format of MNIST, found 0 bytes"),
            (
                "t10k-labels-idx1",
                gzip.compress(b"\0\0\x08\x01\0\0\0\x09" + bytes(9)),
                "expected 10, one for each image",
            ),
            ("train-labels-idx1", None, "cannot be read"),
        ],
        ids=["no archive", "too short", "another number of labels", "missing"],
    )
    def test_a_damaged_or_missing_file_is_named(self, directory, test_part, file, content, found):
        path = directory / f"{file}-ubyte.gz"
        path.unlink() if content is None else path.write_bytes(content)
        with pytest.raises(UserError) as refused:
            load("fashion_mnist", directory)
        assert str(refused.value).startswith(f"{path}: ")
        assert found in str(refused.value)

    def test_nothing_is_installed(self, directory, tmp_path, monkeypatch):
        import keras.src.backend.config as config

        monkeypatch.setattr(config, "_KERAS_DIR", str(tmp_path))
        with pytest.raises(UserError, match="; install Debian's package the-package, or download https://"):
            load("fashion_mnist", directory)


class TestTensorFlowDatasets:
    """Tests with a stand-in of TensorFlow Datasets, which is not installed."""

    def test_without_the_library(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "tensorflow_datasets", None)
        with pytest.raises(UserError) as refused:
            load("svhn", tmp_path)
        assert str(refused.value) == f"dataset svhn: expected TensorFlow Datasets, found none; {install('datasets')}"

    def test_images_are_decoded_and_resized(self, tmp_path, monkeypatch):
        def read(name, split, decoders):
            assert (name, split, list(decoders)) == ("oxford_iiit_pet", ["train", "test"], ["image"])
            return [[{"image": png((8, 6 + i, 3)), "label": i, "file_name": b""} for i in range(n)] for n in (3, 2)]

        library = types.SimpleNamespace(load=read, as_numpy=lambda part: part)
        library.decode = types.SimpleNamespace(SkipDecoding=object)
        monkeypatch.setitem(sys.modules, "tensorflow_datasets", library)
        data = load("oxford_iiit_pet", tmp_path, resize=4, channels=4)
        assert data.train_inputs.shape == (3, 4, 4, 4)
        assert data.test_inputs[..., 3].min() == 1
        assert (data.test_labels.tolist(), data.n_classes) == ([0, 1], 37)

    def test_no_download(self, tmp_path, monkeypatch):
        def read(*_args, **_options):
            raise ConnectionError("no network\nand more")

        library = types.SimpleNamespace(load=read, decode=types.SimpleNamespace(SkipDecoding=object))
        monkeypatch.setitem(sys.modules, "tensorflow_datasets", library)
        with pytest.raises(
            UserError, match=r"^cannot load svhn: found no network; run python .*svhn_cropped to the same"
        ):
            load("svhn", tmp_path)


def test_nothing_heavy_is_imported_with_the_modules():
    modules = "harness.corpus.datasets, harness.format.shards, harness.format.weights, harness.format.reference"
    program = f"import sys, {modules}; print({{'tensorflow', 'keras'}} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "set()"
