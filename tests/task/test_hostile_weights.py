"""Tests of hostile weight files: HDF5 could name other files, or declare more than it holds, but both are refused."""

import h5py
import numpy as np
import pytest
from hostile_arrays import HOSTILE, write_secrets
from throwaway import dense_weights, write_weights

from harness.errors import UserError
from harness.format.architecture import LayerShapes, ModelShapes, read_architecture
from harness.format.hdf5 import MAX_NAMES
from harness.format.weights import read_weights
from harness.task.layout import TaskDirectory
from harness.task.task import read_task

FILE = "model_3/weights.hdf5"
KERNEL = "dense/dense/weight_0:0"
SHAPE = (4, 6)  # of that kernel


def enormous_in_one_piece(group, name, *_):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
    space = h5py.h5s.create_simple((10**6, 10**6))
    h5py.h5d.create(group.id, name.encode(), h5py.h5t.IEEE_F32LE, space, properties)


CASES = [
    (HOSTILE["external storage"], "expected numbers in the file itself, found numbers in {task}/secret.bin"),
    (HOSTILE["external link"], "expected an object of the file, found a link to {task}/secret.h5 /kernel"),
    (HOSTILE["soft link"], "expected an object of the file, found a link to /dense/dense/elsewhere/kernel"),
    (HOSTILE["virtual"], "expected numbers in the file itself, found a view of other arrays"),
    (HOSTILE["packed"], "expected numbers in one piece, found chunks through 2 filters; h5repack -l CONTI -f NONE"),
    (HOSTILE["chunked"], "expected numbers in one piece, found chunks; h5repack -l CONTI -f NONE"),
    (HOSTILE["enormous"], "expected numbers in one piece, found chunks through 1 filters"),
    (enormous_in_one_piece, "kernel: expected shape (4, 6), found (1000000, 1000000)"),
    (HOSTILE["never written"], "expected numbers, found none, the array was never written"),
    (HOSTILE["references"], "expected floating-point numbers, found object"),
    (HOSTILE["texts"], "expected floating-point numbers, found object"),
    (HOSTILE["group"], "expected an array, found a group or type"),
    (HOSTILE["type"], "expected an array, found a group or type"),
]


@pytest.mark.parametrize(("write", "message"), CASES)
def test_numbers_that_are_not_plainly_in_the_file(refused, write, message, task):
    write_secrets(task, SHAPE)
    with h5py.File(task / FILE, "a") as file:
        del file[KERNEL]
        write(file["dense/dense"], "weight_0:0", SHAPE, task)
    refused(task, FILE, message.format(task=task))


def test_a_group_that_is_in_another_file(refused, task):
    for name in ("other.hdf5", FILE):
        write_weights(task / name, dense_weights([{"units": 6}, {"units": 6}, {"units": 3}], np.random.default_rng(1)))
    with h5py.File(task / FILE, "a") as file:
        del file["dense"]
        file["dense"] = h5py.ExternalLink(str(task / "other.hdf5"), "/dense")
    refused(task, FILE, f"dense: expected an object of the file, found a link to {task}/other.hdf5 /dense")


def test_the_whole_model_is_in_another_file(refused, task):
    (task / FILE).rename(task / "other.hdf5")
    with h5py.File(task / FILE, "w") as file:
        file["model_weights"] = h5py.ExternalLink(str(task / "other.hdf5"), "/")
    refused(task, FILE, "model_weights: expected an object of the file, found a link to")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (np.zeros(MAX_NAMES + 1, "S1"), f"layer_names: expected at most {MAX_NAMES} names, found shape (10001,)"),
        (np.zeros(3, "<f4"), "layer_names: expected names, found float32"),
        (np.full(3, None, dtype=h5py.ref_dtype), "layer_names: expected names, found object"),
        (np.array([b"\xff", b"dense_1", b"dense_2"]), "layer \ufffd: expected a group of that name, found none"),
        (np.array([b"/dense", b"dense_1", b"dense_2"]), "layer /dense: expected a group of that name, found none"),
        (np.array([b"dense/..", b"dense_1", b"dense_2"]), "layer dense/..: expected a group of that name, found none"),
    ],
)
def test_names_that_no_layer_has(refused, names, message, task):
    with h5py.File(task / FILE, "a", libver="latest") as file:  # which keeps long lists, too
        del file.attrs["layer_names"]
        file.attrs["layer_names"] = names
    refused(task, FILE, message)


@pytest.mark.rest
def test_a_layer_that_is_listed_over_and_over(refused, task):
    with h5py.File(task / FILE, "a", libver="latest") as file:
        del file.attrs["layer_names"]
        file.attrs["layer_names"] = np.full(MAX_NAMES // 2 + 1, b"dense")
    refused(task, FILE, f"number of weights: expected at most {MAX_NAMES} arrays, found more")


@pytest.mark.rest
def test_no_damaged_byte_ends_in_anything_but_one_line(task):
    """Each damaged file is read or refused in one line. Only damage in the numbers themselves is not noticed."""
    whole, architecture = (task / "model_0/weights.hdf5").read_bytes(), read_architecture(task / "model_0")
    kernels = [("kernel", (4, 4)), ("bias", (4,))], [("kernel", (4, 3)), ("bias", (3,))]
    shapes = ModelShapes(tuple(LayerShapes("Dense", tuple(weights)) for weights in kernels), (3,))
    assert len(read_weights(whole, task, architecture, shapes)) == 4
    lines = []
    for position in range(0, len(whole), 5):
        for change in (0xFF, 0x01):
            damaged = bytearray(whole)
            damaged[position] ^= change
            try:
                read_weights(bytes(damaged), task, architecture, shapes)
            except UserError as error:
                lines.append(str(error))
    assert len(lines) > 100
    assert [line for line in lines if len(line.splitlines()) > 1] == []


def test_a_file_that_is_larger_than_any_such_model(refused, task):
    with (task / FILE).open("r+b") as stream:
        stream.truncate(1 << 40)
    refused(task, FILE, "too large: expected at most 67114816 bytes for 93 parameters, found 1099511627776")


def test_what_changes_while_a_run_goes_on_is_noticed(tmp_path, task):
    model = read_task(TaskDirectory(tmp_path).runnable()[0]).models[0]
    (tmp_path / "canonical").mkdir()
    weights = model.directory / "weights_init.hdf5"
    weights.write_bytes((model.directory / "weights.hdf5").read_bytes())
    with pytest.raises(UserError, match="changed since the task was read; run the same command again"):
        model.write_canonical(tmp_path / "canonical")
