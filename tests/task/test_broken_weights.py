import h5py
import numpy as np
import pytest
from throwaway import dense_weights, make_task, write_weights

FILE = "model_3/weights.hdf5"
LAYERS = [{"units": 6}, {"units": 6}, {"units": 3}]  # of model_3


def file_with(task, change=lambda weights: None):
    weights = dense_weights(LAYERS, np.random.default_rng(1))
    change(weights)
    write_weights(task / FILE, weights)


def missing(task):
    (task / FILE).unlink()


def truncated(task):
    (task / FILE).write_bytes((task / FILE).read_bytes()[:3000])


def empty(task):
    (task / FILE).write_bytes(b"")


def not_hdf5(task):
    (task / FILE).write_text("PK zip file")


def layout_of_keras_3(task):
    with h5py.File(task / FILE, "w") as file:
        file["layers/dense/vars/0"] = np.zeros((4, 6), np.float32)


def no_layout(task):
    with h5py.File(task / FILE, "w") as file:
        file["kernel"] = np.zeros((4, 6), np.float32)


def group_missing(task):
    with h5py.File(task / FILE, "a") as file:
        del file["dense_1"]


def array_missing(task):
    with h5py.File(task / FILE, "a") as file:
        del file["dense_1/dense_1/weight_0:0"]


def too_few_layers(task):
    file_with(task, lambda weights: weights.pop())


def no_bias(task):
    file_with(task, lambda weights: weights[1].pop())


def wrong_shape(task):
    file_with(task, lambda weights: weights[0].__setitem__(0, np.zeros((4, 5), np.float32)))


def not_finite(task):
    file_with(task, lambda weights: weights[2][1].__setitem__(0, np.nan))


def integers(task):
    file_with(task, lambda weights: weights[0].__setitem__(1, np.zeros(6, np.int32)))


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (missing, "expected a file, found nothing"),
        (truncated, "expected a whole HDF5 file, found 3000 bytes"),
        (empty, "expected an HDF5 file of weights, found an empty file"),
        (not_hdf5, "expected an HDF5 file of weights, found a file that starts otherwise"),
        (layout_of_keras_3, "expected the HDF5 layout of Keras 2, found the .weights.h5 layout of Keras 3"),
        (no_layout, "expected the HDF5 layout of Keras 2, found no attribute layer_names"),
        (group_missing, "layer dense_1: expected a group of that name, found none"),
        (array_missing, "weight dense_1/weight_0:0: expected an array of that name, found none"),
        (too_few_layers, "expected 6 arrays in 3 layers, found 4 arrays in 2 layers"),
        (no_bias, "layer 1 (Dense), 'dense_1' in the file: expected 2 arrays (kernel, bias), found 1"),
        (wrong_shape, "layer 0 (Dense), 'dense' in the file: kernel: expected shape (4, 6), found (4, 5)"),
        (not_finite, "weight dense_2/weight_1:0: expected finite numbers, found 1 of 3 NaN or infinite"),
        (integers, "weight dense/weight_1:0: expected floating-point numbers, found int32"),
    ],
)
def test_broken_weights(tmp_path, refused, break_it, message):
    task = make_task(tmp_path)
    break_it(task)
    refused(task, FILE, message)


def test_broken_initial_weights(tmp_path, refused):
    task = make_task(tmp_path)
    (task / "model_3/weights_init.hdf5").write_bytes(b"")
    refused(task, "model_3/weights_init.hdf5", "found an empty file")


def test_a_low_rank_update_beside_the_kernel_is_refused_with_a_remedy(tmp_path, refused):
    task = make_task(tmp_path)
    with h5py.File(task / FILE, "a") as file:
        names = [*file["dense"].attrs["weight_names"], b"dense/lora_kernel_a", b"dense/lora_kernel_b"]
        file["dense"].attrs["weight_names"] = names
        file["dense/dense/lora_kernel_a"], file["dense/dense/lora_kernel_b"] = np.zeros((4, 2)), np.zeros((2, 6))
    refused(task, FILE, "expected 2 arrays (kernel, bias), found 4; add the low-rank update (LoRA) to the kernel")


def test_remedy_for_weights_of_keras_3_is_named(tmp_path, refused):
    task = make_task(tmp_path)
    layout_of_keras_3(task)
    refused(task, FILE, "; write it with model.save('weights.hdf5') of Keras 3")
