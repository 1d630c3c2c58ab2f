"""Tests of files of another kind than expected: the error names the kind and the remedy, and quotes nothing."""

import bz2
import gzip
import json
import lzma
import tomllib
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from harness.errors import UserError
from harness.format.arrays import open_npz, read_npy
from harness.format.files import kind_of, read_json
from harness.format.images import read_images
from harness.format.shards import count_samples, write_shards
from harness.importer.data import read_examples
from harness.importer.model import StoredModel
from harness.importer.table import ImportedRow
from harness.parsing import parse_json, parse_toml
from tests.throwaway import make_task


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
