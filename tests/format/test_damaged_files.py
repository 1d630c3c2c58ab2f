"""Tests of damaged files, and of files of another kind than expected: one line says so; and of scanned shards."""

import bz2
import gzip
import hashlib
import io
import itertools
import json
import lzma
import math
import struct
import tomllib
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image
from throwaway import example, tensor, write_records

from harness.errors import UserError
from harness.format.architecture import read_architecture
from harness.format.archive import names, open_archive, read_member
from harness.format.arrays import open_npz, read_npy
from harness.format.files import kind_of, natural, read_json
from harness.format.images import read_images
from harness.format.saved_models import read_whole_model_config
from harness.format.scan import BLOCK_BYTES, scan_shard
from harness.format.shards import TensorProto, count_samples, read_samples, write_shards
from harness.importer.data import read_examples
from harness.importer.model import StoredModel
from harness.importer.table import ImportedRow
from harness.parsing import parse_json, parse_toml
from tests.fuzz.samples import keras_graph, models
from tests.throwaway import make_task


def test_headers_of_arrays(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    shaped = "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}"
    sizes = (shaped.format(more) for more in ("", "10**30,), }", f"{2**64},), }}"))
    for header in (*sizes, "[" * 300, "1" * 5000, "{}"):
        file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + f"{header}\n".encode() + bytes(80))
        with pytest.raises(UserError, match=r"x\.npy: damaged: expected a whole \.npy file"):
            read_npy(file)


def zipped(tmp_path: Path, *members: str) -> Path:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name in members:
            archive.writestr(name, b"content")
    return tmp_path / "x.zip"


def replace(file: Path, offset: int, content: bytes) -> None:
    """Replace bytes of the last entry in the zip's directory."""
    found = bytearray(file.read_bytes())
    start = found.rindex(b"PK\1\2") + offset
    found[start : start + len(content)] = content
    file.write_bytes(found)


def test_a_member_that_begins_before_the_archive(tmp_path: Path) -> None:
    file = zipped(tmp_path, "a", "b")
    end = bytearray(file.read_bytes())
    place = end.rindex(b"PK\5\6") + 16
    (start,) = struct.unpack_from("<I", end, place)
    struct.pack_into("<I", end, place, start + 2 * len(end))  # all positions are then counted from before the file
    file.write_bytes(end)
    with (
        pytest.raises(UserError, match=r"x\.zip: damaged: expected a whole zip archive"),
        open_archive(file) as archive,
    ):
        read_member(archive, "a", 100)


@pytest.mark.parametrize(
    ("name", "byte", "said"), [("a", b"\0", "found a member without a name"), ("é", b"\xff", "codec can't decode")]
)
def test_names_that_are_empty_or_not_in_their_encoding(tmp_path: Path, name: str, byte: bytes, said: str) -> None:
    file = zipped(tmp_path, name)
    replace(file, 46, byte)
    with pytest.raises(UserError, match=rf"x\.zip: damaged: .* {said}"), open_archive(file) as archive:
        names(archive)


@pytest.mark.parametrize(
    "nodes", [[[["a"]]], [[["a", 0, 0, {}], ["b"]]], [{"args": [], "kwargs": ["x"]}], [{"kwargs": "x"}]]
)
def test_calls_of_layers_that_are_none(tmp_path: Path, nodes: object) -> None:
    keras_graph(tmp_path)
    content = json.loads((tmp_path / "config.json").read_text())
    content["config"]["layers"][1]["inbound_nodes"] = nodes
    (tmp_path / "config.json").write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"config\.json: "):
        read_architecture(tmp_path)


def test_names_with_any_digits_have_one_order() -> None:
    many = "model_" + "9" * 5000
    found = sorted([many, "model_10", "²", "model_2", "model_²", "model_0", "model_٣"], key=natural)
    assert [name for name in found if name.isascii()] == ["model_0", "model_2", "model_10", many]
    zeros = ["shard_01", "shard_1", "shard_1_0", "shard_1b", "shard_2"]
    assert [sorted(order, key=natural) for order in (zeros, zeros[::-1])] == [zeros, zeros]


@pytest.mark.parametrize("length", [0, 2**64 - 16, 2**64 - 4096, 5000])
def test_a_heap_of_hdf5_without_end(tmp_path: Path, length: int) -> None:
    """The HDF5 library would read this file for ever, and no signal would end that."""
    models(tmp_path)
    file = tmp_path / "d.h5"
    content = bytearray(file.read_bytes())
    assert json.loads(json.dumps(read_whole_model_config(file)))
    heap = content.index(b"GCOL")
    (used,) = struct.unpack_from("<Q", content, heap + 24)
    struct.pack_into("<Q", content, heap + 32 + used + -used % 8 + 8, length)  # of the free space behind the text
    file.write_bytes(content)
    with pytest.raises(UserError, match=r"d\.h5: damaged: .*: a heap without end"):
        read_whole_model_config(file)


def test_an_hdf5_file_with_other_sizes_is_refused(tmp_path: Path) -> None:
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_sizes(4, 4)
    with h5py.File(h5py.h5f.create(str(tmp_path / "x.h5").encode(), fcpl=creation)) as file:
        file.attrs["model_config"] = "{}"
    with pytest.raises(UserError, match=r"x\.h5: damaged: .*: positions or lengths of another size than 64 bits"):
        read_whole_model_config(tmp_path / "x.h5")


def test_random_numbers_are_seldom_taken_for_a_heap(tmp_path: Path) -> None:
    models(tmp_path)
    image = io.BytesIO((tmp_path / "d.h5").read_bytes())
    marks = b"GCOL\x01" + np.random.default_rng(0).bytes(27)
    with h5py.File(image, "r+") as file:
        file["more"] = np.frombuffer(marks * 1000, "<f4")
    (tmp_path / "d.h5").write_bytes(image.getvalue())
    assert read_whole_model_config(tmp_path / "d.h5")["class_name"] == "Sequential"


SHAPE = (4,)


def as_list(array, kind, **values):
    """Return a serialized tensor whose numbers are in the list for their type, such as `float_val`."""
    proto = TensorProto(dtype=kind, **values)
    for size in np.shape(array):
        proto.tensor_shape.dim.add(size=size)
    return proto.SerializeToString()


def payloads(n_samples=40):
    """Yield samples, by turns in each form in which TensorFlow may have written them."""
    random = np.random.default_rng(0)
    for number, order, label in itertools.islice(itertools.product(range(9), (1, -1), range(3)), n_samples):
        inputs = random.normal(size=SHAPE).astype(np.float32)
        inputs = np.zeros(SHAPE, np.float32) if number == 2 else inputs
        listed = as_list(inputs, 1, float_val=inputs.tolist())
        features = {
            "inputs": listed if number == 3 else tensor(inputs),
            "output": as_list(0, 3, int_val=[label]) if number == 4 else tensor(np.int32(label)),
        }
        if number == 5:  # the same numbers occur once more
            features["another"] = tensor(inputs)
        yield from [example(**dict(list(features.items())[::order]))]


def scanned(file, shape=SHAPE):
    parts = []
    found = scan_shard(file, shape, lambda number, inputs: parts.append((number, inputs.copy())))
    assert [number for number, _ in parts] == list(itertools.accumulate([0, *(len(some) for _, some in parts[:-1])]))
    return np.concatenate([some for _, some in parts]), found


def test_samples_and_digest_are_those_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.format.scan.BLOCK_BYTES", 7 * 16)
    file = tmp_path / "shard_0.tfrecord"
    write_records(file, list(payloads()))
    inputs, found = scanned(file)
    expected = list(read_samples(file))
    np.testing.assert_array_equal(inputs, [one for one, _ in expected])
    assert found.labels.tolist() == [label for _, label in expected]
    assert found.digest == hashlib.sha256(file.read_bytes()).hexdigest()


def test_bytes_that_look_like_the_inputs_are_not_taken_for_them(tmp_path):
    """In the first sample, the numbers of the inputs occur twice."""
    first, second = (np.full(SHAPE, value, np.float32) for value in (1.0, 2.0))
    label = tensor(np.int32(1))
    samples = [example(a=tensor(first), inputs=tensor(inputs), output=label) for inputs in (first, second)]
    write_records(tmp_path / "shard_0.tfrecord", [samples[0], samples[1], samples[1]])
    inputs, _ = scanned(tmp_path / "shard_0.tfrecord")
    np.testing.assert_array_equal(inputs, [first, second, second])


def test_the_first_record_that_is_wrong_is_named(tmp_path):
    label = tensor(np.int32(0))
    good, infinite = (example(inputs=tensor(np.full(4, value, np.float32)), output=label) for value in (0, np.inf))
    file = tmp_path / "shard_0.tfrecord"
    write_records(file, [good, good, infinite, b"\xff"])
    with pytest.raises(UserError, match="record 2: inputs: expected finite numbers"):
        scan_shard(file, SHAPE)
    write_records(file, [good, b"\xff", infinite])
    with pytest.raises(UserError, match="record 1: payload"):
        scan_shard(file, SHAPE)


@pytest.mark.parametrize("shape", [(), (BLOCK_BYTES // 4 + 1,)], ids=["one number", "more than a block"])
def test_samples_of_any_size_are_read(tmp_path, shape):
    file = tmp_path / "shard_0.tfrecord"
    samples = np.arange(3 * math.prod(shape), dtype=np.float32).reshape(3, *shape)
    write_records(file, [example(inputs=tensor(one), output=tensor(np.int32(0))) for one in samples])
    inputs, _ = scanned(file, shape)
    np.testing.assert_array_equal(inputs, samples)


def model(path: Path) -> object:
    return StoredModel(ImportedRow("table", path))


def npz(path: Path) -> None:
    with open_npz(path):
        pass


def image(path: Path) -> object:
    return list(read_images([(path, 0)], (4, 4, 1)))


READERS: dict[str, Callable[[Path], object]] = {
    "shard": count_samples, "model": model, "JSON": read_json, ".npy": read_npy, ".npz": npz, "image": image,
}  # fmt: skip
PAGE = b"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>"
OTHERS = {
    "gzip": (gzip.compress(bytes(99)), "a file compressed with gzip; decompress it"),
    "bzip2": (bz2.compress(bytes(99)), "a file compressed with bzip2; decompress it"),
    "xz": (lzma.compress(bytes(99)), "a file compressed with xz; decompress it"),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:secret\nsize 9\n", "Git LFS; git lfs pull"),
    "git-annex": (b"/annex/objects/SHA256E-s9--secret.h5\n", "git-annex; git annex get"),
    "page": (PAGE, "a web page; download the file itself"),
    "page with a mark": (BOM_UTF8 + PAGE.strip().lower(), "a web page; download the file itself"),
    "PyTorch before 1.6": (
        b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.",
        "a pickle of PyTorch (weights, a module or TorchScript), which is never loaded; torch.export.save(",
    ),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("reader", READERS)
def test_what_it_is_and_what_to_do(reader: str, other: str, tmp_path: Path) -> None:
    content, said = OTHERS[other]
    (tmp_path / "file.npy").write_bytes(content)
    with pytest.raises(UserError) as error:
        READERS[reader](tmp_path / "file.npy")
    assert said in str(error.value)
    assert "secret" not in str(error.value)
    assert str(tmp_path / "file.npy") in str(error.value)


@pytest.mark.parametrize("reader", ["model", ".npz"])
def test_a_file_of_pytorch_leads_to_the_page_that_helps(reader: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "net.pt", "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}.")
        archive.writestr("archive/version", b"3\n")
    with pytest.raises(
        UserError, match=r"net\.pt: .*, found a pickle of PyTorch \(.*\), which is never loaded; torch\.export\.save"
    ):
        READERS[reader](tmp_path / "net.pt")
    assert "\n## A PyTorch user\n" in Path(__file__).parents[2].joinpath("docs/your-own-models.md").read_text()


def test_whole_files_are_of_none_of_these_kinds(tmp_path: Path) -> None:
    task = make_task(tmp_path, n_models=1)
    write_shards(tmp_path / "shards", np.zeros((1, 50)), np.zeros(1))  # the smallest length of a record
    np.savez(tmp_path / "x.npz", x=np.zeros(3))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if kind_of(path.read_bytes()[:64])] == []
    assert task.is_dir()


def test_a_byte_order_mark_is_no_part_of_json_and_toml(tmp_path: Path) -> None:
    text = json.dumps({"model_config": [{"layer_name": "Dense", "units": 4}], "input_shape": [3]})
    assert parse_json("\ufeff" + text) == parse_json(BOM_UTF8 + text.encode()) == json.loads(text)
    assert parse_toml("\ufeffa = 1") == tomllib.loads("a = 1")
    (tmp_path / "m.json").write_bytes(BOM_UTF8 + text.encode())
    with pytest.raises(UserError, match="architecture without weights"):  # it is read
        model(tmp_path / "m.json")


@pytest.mark.parametrize("channels", [1, 3])
def test_grey_images_of_16_bits_keep_their_high_bytes(channels: int, tmp_path: Path) -> None:
    """TensorFlow decodes them in this way, and `pgdl task build` reads the same folder."""
    grey = (np.arange(16).reshape(4, 4) * 4096 + 255).astype(np.uint16)
    (tmp_path / "images/0").mkdir(parents=True)
    Image.fromarray(grey).save(tmp_path / "images/0/a.png")
    (tmp_path / "images/1").mkdir()
    Image.fromarray((grey >> 8).astype(np.uint8)).save(tmp_path / "images/1/b.png")
    examples = read_examples(str(tmp_path / "images"), "train", (4, 4, channels))
    (both,) = examples.parts(2)
    assert both[0].tolist() == both[1].tolist()
    assert both[0, ..., 0].tolist() == (grey >> 8).tolist()
