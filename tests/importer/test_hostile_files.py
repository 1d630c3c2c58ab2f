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


def zipped(change):
    def write(folder):
        with zipfile.ZipFile(folder / FILE, "w") as archive:
            archive.writestr("config.json", json.dumps(network(**CELL)))
            change(archive)

    return write


def twice(archive):
    archive.writestr("model.weights.h5", hdf5(weights_of(2, 6, 3)))
    with pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("config.json", json.dumps(sequential({"class_name": "Lambda", "config": {}})))


def bomb(archive):
    archive.writestr("model.weights.h5", bytes(2**27), zipfile.ZIP_DEFLATED)


def truncated(folder):
    content = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(content[: len(content) // 2])


ARCHIVES = {
    "Lambda": (layers({"class_name": "Lambda", "config": {"function": "X"}}), "layers[1] (l1): code: expected built-i"),
    "module": (layers({**dense(4), "module": "os"}), "not a layer of Keras: expected built-in layers only, found 'Den"),
    "registered": (layers({**dense(4), "registered_name": "a>B"}), "found 'Dense' registered as 'a>B'; code in a mode"),
    "activation": (layers(dense(4, {"class_name": "f"})), "activation: expected text or numbers, found an object; cod"),
    "a layer as activation": (
        layers(dense(4, {"module": "keras.layers", "class_name": "LeakyReLU", "config": {}})),
        "expected the name of a function, found the layer LeakyReLU; put the activation into a layer of its own",
    ),
    "another operation": (operation("Squareplus", b=4), "found 'Squareplus' of module keras.src.ops.nn"),
    "another form of an operation": (operation("Gelu", approximate=True), "found 'Gelu' of module keras.src.ops.nn"),
    "no class": (layers({**dense(4), "class_name": ["Dense"]}), "malformed: expected JSON written by Keras"),
    "a setting of a terminal": (layers(dense(4, **{"\x1b[2J": {}})), "a setting of Dense, found '\\x1b[2J'"),
    "a name of a terminal": (layers(dense(4.5, name="\x1b[2J\n")), "layers[1] (?[2J?): units: expected an integer"),
    "nested": (keras_file(nested(40)), "nested models: expected at most 16 levels, found more"),
    "nested JSON": (keras_file(**{"config.json": "[" * 10**5}), "m3.keras: not JSON: expected a JSON object"),
    "a key twice": (keras_file(**{"config.json": '{"config": 1, "config": 2}'}), "repeated key: expected distinct key"),
    "long JSON": (keras_file(**{"config.json": " " * 2**25}), "member config.json: expected at most 16777216 bytes"),
    "no weights": (keras_file(**{"model.weights.h5": None}), "not a .keras file: expected config.json and model.weigh"),
    "weights elsewhere": (keras_file(**{"model.weights.json": "{}"}), "weights in several files: expected"),
    "a member twice": (zipped(twice), "member config.json: expected one of this name, found 2"),
    "a bomb": (zipped(bomb), "members together: expected at most 100 times the archive's size, found"),
    "truncated": (truncated, "m3.keras: damaged: expected a whole zip archive"),
    "many members": (keras_file(**{str(n): "" for n in range(2000)}), "too many members: expected at most 1000"),
    "far too many": (keras_file(**{str(n): "" for n in range(20_001)}), "too many members: expected at most 1000"),
    "many units": (keras_file(sequential(dense(10**9), dense(10**9), dense(3))), "shape (4, 1000000000), found (4, 6)"),
    "more units than numbers": (keras_file(sequential(dense(10**30), dense(3))), "found (4, 6)"),
    "another model": (keras_file(weights=hdf5(weights_of(1, 6, 3))), "kernel: expected shape (6, 6), found (6, 3)"),
    "not HDF5": (keras_file(weights=b"numbers"), "m3.keras: damaged: expected a whole HDF5 file, found 7 bytes"),
    "a config of Keras 2": (keras_file({"class_name": "Model", "config": {"layers": []}}), "malformed: expected JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives(name, folder, refused):
    change, message = ARCHIVES[name]
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


@pytest.mark.parametrize(("write", "message"), WEIGHTS, ids=[message for _, message in WEIGHTS])
def test_weights(write, message, folder, refused):
    write_secrets(folder, SHAPE)
    image = io.BytesIO(hdf5(weights_of(2, 6, 3)))
    with h5py.File(image, "a") as file:
        del file[KERNEL]
        write(file["layers/dense_1/vars"], "0", SHAPE, folder)
    write_keras(folder / FILE, network(**CELL), image.getvalue())
    assert message in refused()


WHOLE_MODELS = {
    "no architecture": (lambda attrs: None, "not a whole model: expected an attribute model_config, found none; name"),
    "numbers": (lambda attrs: attrs.update(model_config=1), "model_config: expected text, found int64, shape ()"),
    "a list": (lambda attrs: attrs.update(model_config=["{}"] * 2), "model_config: expected text, found object, shape"),
    "not JSON": (lambda attrs: attrs.update(model_config="{"), "not JSON: expected a JSON object"),
    "code": (
        lambda attrs: attrs.update(model_config=json.dumps(sequential({"class_name": "Lambda", "config": {}}))),
        "layers[1] (l1): code: expected built-in layers only, found Lambda",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE_MODELS)
def test_whole_models(name, folder, refused):
    write_attribute, message = WHOLE_MODELS[name]
    with h5py.File(folder / FILE, "w") as file:
        write_attribute(file.attrs)
    assert message in refused()


ARRAYS = [array for layer in weights_of(2, 6, 3) for array in layer]


def npz(*arrays):
    return lambda file: np.savez(file, *arrays)


def declares_more(file):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("arr_0.npy", header.getvalue() + bytes(64))


LISTED = {
    "pickled": (npz(*ARRAYS[:5], np.array([{}] * 3)), "w.npz: arr_5: expected numbers, found pickled Python objects"),
    "fewer": (npz(*ARRAYS[:5]), "w.npz: weights: expected 6 arrays, arr_0, arr_1, ..., found 5 arrays: arr_0, arr_1"),
    "other shapes": (npz(*ARRAYS[:5], np.zeros(4)), "w.npz: arr_5, bias of layer 2 (Dense): expected floating-point"),
    "NaN": (npz(*ARRAYS[:5], np.full(3, np.nan)), "w.npz: arr_5: expected finite numbers, found 3 of 3 NaN"),
    "bytes that are not there": (
        declares_more, "arr_0: expected 8000000000000128 bytes for shape (1000000000000000,), found"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTED)
def test_listed_weights(name, folder, refused):
    write, message = LISTED[name]
    write(folder / "w.npz")
    (folder / "m.json").write_text(json.dumps(network(**CELL)))
    (folder / "models.csv").write_text("file,weights,a\nm.json,w.npz,1\n")
    assert message in refused()


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
    weights = [[np.full((4, 6), 1e38, np.float32), np.zeros(6, np.float32)], *weights_of(2, 6, 3)[1:]]
    weights[1] = [np.full(SHAPE, 1e38, np.float32) * np.sign(np.arange(6) - 2.5), np.zeros(6, np.float32)]
    write_keras(folder / FILE, network(**CELL), hdf5([[a.astype(np.float32) for a in pair] for pair in weights]))
    (folder / "models.csv").write_text(f"file,a\n{FILE},1\n")
    assert "m3.keras: cannot be run: found its outputs are NaN" in refused()
