"""Tests of broken and hostile weight files: HDF5 could name other files, or declare more than it holds."""

import os

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
LAYERS = [{"units": 6}, {"units": 6}, {"units": 3}]  # of model_3


def edited(change, mode="a"):
    def edit(task):
        with h5py.File(task / FILE, mode) as file:
            change(file)

    return edit


def weighted(change):
    """Return a function that writes the layers' arrays after a change."""

    def write(task):
        weights = dense_weights(LAYERS, np.random.default_rng(1))
        change(weights)
        write_weights(task / FILE, weights)

    return write


def with_low_rank_update(file):
    """Add arrays of LoRA beside the kernel in a weight file."""
    names = [*file["dense"].attrs["weight_names"], b"dense/lora_kernel_a", b"dense/lora_kernel_b"]
    file["dense"].attrs["weight_names"] = names
    file["dense/dense/lora_kernel_a"], file["dense/dense/lora_kernel_b"] = np.zeros((4, 2)), np.zeros((2, 6))


def with_array(name):
    return edited(lambda file: file.create_dataset(name, data=np.zeros(SHAPE)), "w")


BROKEN = [
    (lambda task: (task / FILE).unlink(), "expected a file, found nothing"),
    (lambda task: os.truncate(task / FILE, 3000), "expected a whole HDF5 file, found 3000 bytes"),
    (lambda task: (task / FILE).write_bytes(b""), "expected an HDF5 file of weights, found an empty file"),
    (lambda task: (task / FILE).write_bytes(b"PK zip"), "expected an HDF5 file of weights, found a file that starts"),
    (
        with_array("layers/dense/vars/0"),
        "expected the HDF5 layout of Keras 2, found the .weights.h5 layout of Keras 3; "
        "write it with model.save('weights.hdf5') of Keras 3",
    ),
    (with_array("kernel"), "expected the HDF5 layout of Keras 2, found no attribute layer_names"),
    (edited(lambda file: file.pop("dense_1")), "layer dense_1: expected a group of that name, found none"),
    (edited(lambda file: file.pop(KERNEL)), "weight dense/weight_0:0: expected an array of that name, found none"),
    (weighted(list.pop), "expected 6 arrays in 3 layers, found 4 arrays in 2 layers"),
    (weighted(lambda layers: layers[1].pop()), "'dense_1' in the file: expected 2 arrays (kernel, bias), found 1"),
    (edited(with_low_rank_update), "found 4; add the low-rank update (LoRA) to the kernel"),
    (weighted(lambda layers: layers[0].reverse()), "'dense' in the file: kernel: expected shape (4, 6), found (6,)"),
    (
        weighted(lambda layers: layers[0].__setitem__(0, layers[0][0][:, :5])),
        "layer 0 (Dense), 'dense' in the file: kernel: expected shape (4, 6), found (4, 5)",
    ),
    (weighted(lambda layers: layers[2][1].put(0, np.nan)), "dense_2/weight_1:0: expected finite numbers, found 1 of 3"),
    (
        weighted(lambda layers: layers[0].__setitem__(1, np.zeros(6, np.int32))),
        "weight dense/weight_1:0: expected floating-point numbers, found int32",
    ),
]


@pytest.mark.parametrize(("break_it", "message"), BROKEN)
def test_broken_weights(refused, break_it, message, task):
    break_it(task)
    refused(task, FILE, message)


def test_broken_initial_weights(refused, task):
    (task / "model_3/weights_init.hdf5").write_bytes(b"")
    refused(task, "model_3/weights_init.hdf5", "found an empty file")


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
    (task / "other.hdf5").write_bytes((task / FILE).read_bytes())
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
        pytest.param(
            np.full(MAX_NAMES // 2 + 1, b"dense"),
            f"number of weights: expected at most {MAX_NAMES} arrays, found more",
            marks=pytest.mark.rest,
        ),
        (np.full(3, None, dtype=h5py.ref_dtype), "layer_names: expected names, found object"),
        *(
            (np.array([name, b"dense_1", b"dense_2"]), f"layer {shown}: expected a group of that name, found none")
            for name, shown in ((b"\xff", "\ufffd"), (b"/dense", "/dense"), (b"dense/..", "dense/.."))
        ),
    ],
)
def test_names_that_no_layer_has(refused, names, message, task):
    with h5py.File(task / FILE, "a", libver="latest") as file:  # which keeps long lists, too
        del file.attrs["layer_names"]
        file.attrs["layer_names"] = names
    refused(task, FILE, message)


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
