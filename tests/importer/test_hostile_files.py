"""Tests of strangers' files: code, bombs, links and false claims end in one line, and are never run or followed."""

import io
import json
import zipfile

import h5py
import numpy as np
import pytest
from hostile_arrays import HOSTILE, write_secrets
from keras_files import dense, hdf5, network, sequential, weights_of, write_keras

FILE = "m3.keras"
CELL = {"activation": "relu", "depth": 2, "width": 6}  # of that file
KERNEL = "layers/dense_1/vars/0"  # of its second layer
SHAPE = (6, 6)


def keras_file(config=None, weights=None, **members):
    config = network(**CELL) if config is None else config
    weights = hdf5(weights_of(2, 6, 3)) if weights is None else weights
    return lambda folder: write_keras(folder / FILE, config, weights, **members)


def layers(*changed):
    return keras_file(sequential(*changed, dense(3)))


def operation(class_name, **settings):
    return layers({"module": "keras.src.ops.nn", "class_name": class_name, "config": settings})


def nested(levels):
    inside = dense(3)
    for _ in range(levels):
        inside = {"class_name": "Sequential", "config": {"name": "a", "layers": [inside]}}
    return inside


def twice(folder):
    keras_file()(folder)
    with zipfile.ZipFile(folder / FILE, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("config.json", json.dumps(sequential({"class_name": "Lambda", "config": {}})))


def bomb(folder):
    with zipfile.ZipFile(folder / FILE, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(2**27))


def truncated(folder):
    content = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(content[: len(content) // 2])


def attribute(**attributes):
    """Write a whole model as .h5 with these attributes."""

    def write(folder):
        with h5py.File(folder / FILE, "w") as file:
            file.attrs.update(attributes)

    return write


LAMBDA = {"class_name": "Lambda", "config": {"function": "X"}}
LEAKY = {"module": "keras.layers", "class_name": "LeakyReLU", "config": {}}

#: Each row has a file and the message of its refusal.
FILES = [
    (layers(LAMBDA), "layers[1] (l1): code: expected built-i"),
    (layers({**dense(4), "module": "os"}), "not a layer of Keras: expected built-in layers only, found 'Den"),
    (layers({**dense(4), "registered_name": "a>B"}), "found 'Dense' registered as 'a>B'; code in a mode"),
    (layers(dense(4, {"class_name": "f"})), "activation: expected text or numbers, found an object; cod"),
    (layers(dense(4, LEAKY)), "expected the name of a function, found the layer LeakyReLU; put the activation into"),
    (operation("Squareplus", b=4), "found 'Squareplus' of module keras.src.ops.nn"),
    (operation("Gelu", approximate=True), "found 'Gelu' of module keras.src.ops.nn"),
    (layers({**dense(4), "class_name": ["Dense"]}), "malformed: expected JSON written by Keras"),
    (layers(dense(4, **{"\x1b[2J": {}})), "a setting of Dense, found '\\x1b[2J'"),
    (layers(dense(4.5, name="\x1b[2J\n")), "layers[1] (?[2J?): units: expected an integer"),
    (keras_file(nested(40)), "nested models: expected at most 16 levels, found more"),
    (keras_file(**{"config.json": "[" * 10**5}), "m3.keras: not JSON: expected a JSON object"),
    (keras_file(**{"config.json": '{"config": 1, "config": 2}'}), "repeated key: expected distinct key"),
    (keras_file(**{"config.json": " " * 2**25}), "member config.json: expected at most 16777216 bytes"),
    (keras_file(**{"model.weights.h5": None}), "not a .keras file: expected config.json and model.weigh"),
    (keras_file(**{"model.weights.json": "{}"}), "weights in several files: expected"),
    (twice, "member config.json: expected one of this name, found 2"),
    (bomb, "members together: expected at most 100 times the archive's size, found"),
    (truncated, "m3.keras: damaged: expected a whole zip archive"),
    (keras_file(**{str(n): "" for n in range(2000)}), "too many members: expected at most 1000"),
    (keras_file(**{str(n): "" for n in range(20_001)}), "too many members: expected at most 1000"),
    (layers(dense(10**9), dense(10**9)), "shape (4, 1000000000), found (4, 6)"),
    (layers(dense(10**30)), "found (4, 6)"),
    (keras_file(weights=hdf5(weights_of(1, 6, 3))), "kernel: expected shape (6, 6), found (6, 3)"),
    (keras_file(weights=b"numbers"), "m3.keras: damaged: expected a whole HDF5 file, found 7 bytes"),
    (keras_file({"class_name": "Model", "config": {"layers": []}}), "malformed: expected JSON"),
    (attribute(), "not a whole model: expected an attribute model_config, found none; name"),
    (attribute(model_config=1), "model_config: expected text, found int64, shape ()"),
    (attribute(model_config=["{}"] * 2), "model_config: expected text, found object, shape"),
    (attribute(model_config="{"), "not JSON: expected a JSON object"),
    (
        attribute(model_config=json.dumps(sequential(LAMBDA))),
        "layers[1] (l1): code: expected built-in layers only, found",
    ),
]


@pytest.mark.parametrize(("change", "message"), FILES)
def test_models(change, message, folder, refused):
    change(folder)
    assert message in refused()


def external_group(name):
    def write(group, *_):
        file = group.file
        del file["layers"]
        file[name] = h5py.ExternalLink("secret.h5", "/")

    return write


def an_array_too_many(group, name, shape, _):
    group[name], group["2"] = np.zeros(shape, np.float32), np.zeros(3, np.float32)


#: One array for each check that a reader of this layout must make; tests/task/test_hostile_weights.py has them all.
WEIGHTS = [
    (HOSTILE["external storage"], "expected numbers in the file itself, found numbers in"),
    (HOSTILE["external link"], f"{KERNEL}: expected an object of the file, found a link to"),
    (external_group("layers"), "layers/dense/vars: expected an object of the file, found a link to"),
    (external_group("_layer_checkpoint_dependencies"), "dependencies: expected an object of the file, found a link to"),
    (HOSTILE["not finite"], "expected finite numbers, found 36 of 36 NaN or infinite"),
    (HOSTILE["integers"], "expected floating-point numbers, found int32"),
    (lambda *_: None, "weights layers/dense_1/vars: expected an array 0, found none"),
    (an_array_too_many, "layer 1 (Dense), 'layers/dense_1' in the file: expected 2 arrays (kernel, bias), found 3"),
]


@pytest.mark.parametrize(("write", "message"), WEIGHTS)
def test_weights(write, message, folder, refused):
    write_secrets(folder, SHAPE)
    image = io.BytesIO(hdf5(weights_of(2, 6, 3)))
    with h5py.File(image, "a") as file:
        del file[KERNEL]
        write(file["layers/dense_1/vars"], "0", SHAPE, folder)
    write_keras(folder / FILE, network(**CELL), image.getvalue())
    assert message in refused()


ARRAYS = [array for layer in weights_of(2, 6, 3) for array in layer]


def npz(*arrays):
    return lambda file: np.savez(file, *arrays)


def declares_more(file):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("arr_0.npy", header.getvalue() + bytes(64))


LISTED = [
    (npz(*ARRAYS[:5], np.array([{}] * 3)), "arr_5: expected numbers, found pickled Python objects"),
    (npz(*ARRAYS[:5]), "weights: expected 6 arrays, arr_0, arr_1, ..., found 5 arrays: arr_0, arr_1"),
    (npz(*ARRAYS[:5], np.zeros(4)), "arr_5, bias of layer 2 (Dense): expected floating-point"),
    (npz(*ARRAYS[:5], np.full(3, np.nan)), "arr_5: expected finite numbers, found 3 of 3 NaN"),
    (declares_more, "arr_0: expected 8000000000000128 bytes for shape (1000000000000000,), found"),
]


@pytest.mark.parametrize(("write", "message"), LISTED)
def test_listed_weights(write, message, folder, refused):
    write(folder / "w.npz")
    (folder / "m.json").write_text(json.dumps(network(**CELL)))
    (folder / "models.csv").write_text("file,weights,a\nm.json,w.npz,1\n")
    assert f"w.npz: {message}" in refused()


@pytest.mark.rest
def test_a_model_that_needs_too_much_memory(folder, refused):
    """The model has few weights and valid shapes: only the process that runs it can find that memory is too small."""
    wide = [
        {"class_name": "RepeatVector", "config": {"n": 10**8}},
        {"class_name": "Activation", "config": {"activation": "tanh"}},
        {"class_name": "GlobalMaxPooling1D", "config": {}},
    ]
    weights = [[np.ones(shape, np.float32) for shape in layer] for layer in (((4, 600), (600,)), ((600, 3), (3,)))]
    write_keras(folder / FILE, sequential(dense(600), *wide, dense(3)), hdf5(weights))
    (folder / "models.csv").write_text(f"file,a\n{FILE},1\n")
    assert "m3.keras: cannot be run: found" in refused()


def test_a_model_whose_outputs_are_nan(folder, refused):
    weights = weights_of(2, 6, 3)
    weights[0][0][:], weights[1][0][:] = 1e38, 1e38 * np.sign(np.arange(6) - 2.5)
    weights[0][1][:] = weights[1][1][:] = 0
    write_keras(folder / FILE, network(**CELL), hdf5(weights))
    (folder / "models.csv").write_text(f"file,a\n{FILE},1\n")
    assert "m3.keras: cannot be run: found its outputs are NaN" in refused()
