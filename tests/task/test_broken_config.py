"""Tests of broken architectures and reference data: a line names the file, the expected and the found content."""

from contextlib import nullcontext

import numpy as np
import pytest
from throwaway import dense_weights, edit_json, write_json, write_weights

from harness.format.reference import read_reference
from harness.task import shapes

FILE = "model_3/config.json"


def layer(**settings):
    """Return a function that changes the second layer of a task's config.json."""
    return lambda task: edit_json(task / FILE, lambda content: content["model_config"][1].update(settings))


def content(change):
    return lambda task: edit_json(task / FILE, change)


def text(written):
    return lambda task: (task / FILE).write_text(written)


def in_keras(class_name, name, *feeding, module=None, **settings):
    """Return a layer as Keras 2 writes it; `feeding` are its inputs in a functional model."""
    nodes = [[[other, 0, 0, {}] for other in feeding]] if feeding else []
    config = {"name": name, **settings}
    return {"class_name": class_name, "name": name, "module": module, "config": config, "inbound_nodes": nodes}


SOURCE = in_keras("InputLayer", "in", batch_input_shape=[None, 4])

#: The arguments of a sum, as Keras 3 writes them.
OPERANDS = [
    {"class_name": "__keras_tensor__", "config": {"shape": [None] * rank, "keras_history": ["in", 0, 0]}}
    for rank in (2, 3)
]

#: The type of a layer behind `layer.quantize("int8")`, as Keras 3 writes it.
QUANTIZED = {"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8", "source_name": "float32"}}


def sequential(*layers):
    return lambda task: write_json(task / FILE, {"class_name": "Sequential", "config": {"layers": layers}})


def of_keras(class_name, **settings):
    return sequential(in_keras(class_name, "b", **settings))


def nested(levels, feeding=(), layer_of="Dense"):
    """Return a model of a single layer, nested in models `levels` deep."""
    inside = in_keras(layer_of, "x", units=3)
    for _ in range(levels):
        inside = {"class_name": "Sequential", "name": "a", "config": {"name": "a", "layers": [inside]}}
    return {**inside, "inbound_nodes": [feeding] if feeding else []}


def doubled(levels):
    """Return a model that calls another model twice, which does the same, and so on."""
    inside = in_keras("Dense", "a", "in", units=4)
    for _ in range(levels):
        inner = {"layers": [SOURCE, inside], "input_layers": [["in", 0, 0]], "output_layers": [["a", 1, 0]]}
        inner["layers"][1]["inbound_nodes"] = [[["in", 0, 0, {}]], [["a", 0, 0, {}]]]
        inside = {"class_name": "Functional", "name": "a", "config": inner, "inbound_nodes": [[["in", 0, 0, {}]]]}
    return [inside]


def functional(*layers, inputs=("in",), output="out", more_outputs=(), tensor=0):
    outputs = [[name, 0, tensor] for name in (*more_outputs, output)]
    config = {"input_layers": [[name, 0, 0] for name in inputs], "output_layers": outputs}
    config["layers"] = [SOURCE, *layers]
    return lambda task: write_json(task / FILE, {"class_name": "Functional", "config": config})


def called(node, class_name="Dense", module=None):
    return functional({**in_keras(class_name, "out", module=module), "inbound_nodes": [node]})


CASES = [
    (lambda task: (task / FILE).unlink(), "expected a file, found nothing"),
    (text("{'a': 1}"), "expected a JSON object, found Expecting property name"),
    (text("[]"), "expected an object, found a list"),
    (text('{"layers": []}'), 'expected "model_config" and "input_shape", or'),
    (content(lambda c: c.update(model_config={})), "expected a list of layers, found an object"),
    (content(lambda c: c["model_config"][1].clear()), 'expected an object with "layer_name"'),
    (content(lambda c: c["model_config"].clear()), "layers: expected at least one, found none"),
    (content(lambda c: c.pop("input_shape")), "expected a list of positive integers"),
    (content(lambda c: c.update(input_shape=[float("inf")])), "batch axis, found [inf]"),
    (content(lambda c: c.update(input_shape=[4.5])), "without the batch axis, found [4.5]"),
    (layer(layer_name="Dens"), "found 'Dens'; did you mean 'Dense'?"),
    (layer(layer_name="Lambda"), "expected built-in layers only, found Lambda; code in a model"),
    (layer(units=64.5), "model_config[1]: units: expected an integer, found 64.5"),
    (layer(activation={"class_name": "f"}), "expected text or numbers, found an object; code"),
    (layer(activation=float("nan")), "activation: expected a finite number, found nan"),
    (layer(unit=4), "setting: expected a setting of Dense, found 'unit'; did you mean 'units'?"),
    (layer(momentum=0.9), "expected a setting of Dense, found 'momentum'"),
    (of_keras("BatchNormalization", renorm=True), "layers[0] (b): renorm: expected false, found True; other values do"),
    (layer(dtype="float16"), "dtype: expected float32, found 'float16'"),
    (layer(dtype=QUANTIZED), "dtype: expected float32, found 'QuantizedDTypePolicy'"),
    (of_keras("Dropout", rate=0.5, dtype="float16"), "layers[0] (b): dtype: expected float32, found 'float16'"),
    (sequential({**nested(1), "config": {"dtype": "mixed_float16", "layers": []}}), "dtype: expected float32, found"),
    (of_keras("My", module="mine"), "not a layer of Keras: expected built-in layers only, found 'My' of module mine"),
    (sequential(nested(3, layer_of="Dens")), "layers[0] (a): layers[0] (a): layers[0] (a): layers[0] (x)"),
    (sequential(nested(20)), "nested models: expected at most 16 levels, found more"),
    (functional(*doubled(16), output="a"), "calls of layers: expected at most 20000, found more"),
    (sequential({**in_keras("Dense", "a"), "registered_name": "my>D"}), "found 'Dense' registered as 'my>D'; code in"),
    (sequential({**nested(1), "module": "mine"}), "expected built-in layers only, found 'Sequential' of module mine"),
    (functional(in_keras("Matmul", "out", "in", "in", module="keras.src.ops.numpy")), "found 'Matmul' of module"),
    (called({"args": OPERANDS}, "Add", "keras.src.ops.numpy"), "as many axes, found 2 outputs of [2, 3] axes"),
    (functional(nested(1, [["in", 0, 0, {}]]), output="a", tensor=1), "expected one of 1, found number 1 of a"),
    (called([["in", 0, 0, {"mask": [1]}]], "MultiHeadAttention"), "outputs only, found also {'mask': [1]}"),
    (called([["in", 0, 0, {"training": True}]]), "other layers' outputs only, found also {'training': True}"),
    (functional(inputs=("in", "other")), "expected exactly 1 input, found 2"),
    (functional(more_outputs=("in",)), "expected exactly 1 output, found 2"),
    (functional(in_keras("Add", "a", "in", "out"), in_keras("Add", "out", "in", "a")), "expected no cycle, found"),
    (functional(in_keras("Dense", "out", "nowhere")), "inbound_nodes: expected names of layers, found nowhere"),
    (sequential({"class_name": "Dense"}), "expected JSON written by Keras, found KeyError('config')"),
]


def test_what_only_keras_knows(tmp_path, pgdl, task):
    """Only Keras itself finds impossible settings, and inputs and outputs that do not fit."""
    wide = [{"layer_name": "Dense", "units": 4}]
    edit_json(task / "model_1/config.json", lambda c: c["model_config"][0].update(units=-4))
    edit_json(task / "model_2/config.json", lambda c: c.update(input_shape=[2, 2]))
    edit_json(task / "model_3/config.json", lambda c: c.update(model_config=wide))
    edit_json(task / "model_4/config.json", lambda c: c.update(input_shape=[5]))
    for name in ("weights.hdf5", "weights_init.hdf5"):
        write_weights(task / "model_3" / name, dense_weights(wide, np.random.default_rng(0)))
        write_weights(task / "model_4" / name, [[np.zeros((5, 4)), np.zeros(4)], [np.zeros((4, 3)), np.zeros(3)]])
    outcome = pgdl("task", "validate", tmp_path)
    expected = [
        ("model_1", "refused by Keras: found layer 0 (Dense): "),
        ("model_2", "output of the model: expected one number for each of at least 2 classes, found shape (2, 3)"),
        ("model_3", "number of outputs: expected 3 as of model_0, found 4"),
        ("model_4", f"input_shape: expected (4,) as in {task / 'dataset_1/train'}, found (5,)"),
    ]
    assert outcome.code == 2
    assert outcome.lines[-1] == "tiny: 4 problems: invalid"
    for line, (model, message) in zip(outcome.lines, expected, strict=False):
        assert line.startswith(f"{task / model / 'config.json'}: {message}")


REFERENCE = "model_configs.json"


def holder_of(content, keys):
    for key in keys[:-1]:
        content = content[key]
    return content


def put(*keys, value):
    """Return a function that sets one value deep inside the content."""
    return lambda task: edit_json(task / REFERENCE, lambda content: holder_of(content, keys).update({keys[-1]: value}))


def drop(*keys):
    return lambda task: edit_json(task / REFERENCE, lambda content: holder_of(content, keys).pop(keys[-1]))


def reference_text(written):
    return lambda task: (task / REFERENCE).write_text(written)


def current(value):
    return put("1", "hparams", "width", "current_value", value=value)


def accuracy(name, value):
    return put("4", "metrics", name, value=value)


NO_RATE, DEPTH = "expected a number in [0, 1], found", ("2", "hparams", "depth")

BROKEN_REFERENCES = [
    (reference_text("{"), "expected a JSON object, found Expecting property name"),
    (reference_text('{"0": {}, "0": {}}'), "expected distinct keys, found '0' twice"),
    (reference_text(r'{"0": "\ud800"}'), r"a text: expected whole characters, found '\ud800'"),
    (put("model_0", value={}), "expected one entry for model_0, found 'model_0' and another"),
    (reference_text("{}"), "expected at least one model and one hyperparameter, found 0 models"),
    (current(4), "width=4): expected one model, found 'model_0' and 'model_1'"),
    (current(5), "hyperparameter 'width': expected one of 4, 6, found 5"),
    (put("1", "hparams", "width", "possible_values", value=[4, 8]), "expected [4, 6] as in model_0, found [4, 8]"),
    (drop(*DEPTH, "current_value"), "model_2: hparams.depth: expected a current_value, found none"),
    (drop(*DEPTH, "possible_values"), "model_2: hparams.depth.possible_values: expected a list, found none"),
    (drop(*DEPTH), "expected the hyperparameters activation, depth"),
    (drop("2", "hparams"), "model_2: hparams: expected an object, found none"),
    (drop("2", "metrics"), "model_2: metrics: expected an object, found none"),
    (accuracy("train_acc", 98.5), f"metrics.train_acc: {NO_RATE} 98.5"),
    (accuracy("test_acc", float("nan")), f"model_4: metrics.test_acc: {NO_RATE} nan"),
    (accuracy("test_acc", float("inf")), f"{NO_RATE} inf"),
    (accuracy("test_acc", "0.9"), f"{NO_RATE} text ('0.9')"),
    (accuracy("test_acc", True), f"{NO_RATE} true"),
    (drop("4", "metrics", "test_acc"), f"{NO_RATE} none"),
]


@pytest.mark.rest
@pytest.mark.parametrize(
    ("file", "break_it", "message"),
    [(file, *case) for file, cases in ((FILE, CASES), (REFERENCE, BROKEN_REFERENCES)) for case in cases],
)
def test_one_line_names_the_broken_file(refused, file, break_it, message, task):
    break_it(task)
    refused(task, file, message)


def in_a_row(number, *last):
    """Return a function that writes a network of `number` dense layers, and further layers."""
    layers = [*[{"layer_name": "Dense", "units": 4}] * number, *last]
    return content(lambda config: config.update(model_config=layers, input_shape=[4]))


def test_a_network_too_deep_for_keras_is_refused_before_keras_builds_it(refused, monkeypatch, task):
    monkeypatch.setattr(shapes, "keras_process", nullcontext)  # no process
    in_a_row(1000)(task)
    refused(task, FILE, "refused by Keras: found 1000 layers in a row, at most 900 are allowed")


@pytest.mark.rest
def test_a_wrong_layer_behind_many_others_is_found_soon(refused, monkeypatch, task):
    """`Sequential.add` builds the model anew after each layer, which would take several minutes here."""
    monkeypatch.setattr(shapes, "SECONDS", 60.0)
    in_a_row(899, {"layer_name": "Conv2D", "filters": 4, "kernel_size": 3})(task)
    refused(task, FILE, "refused by Keras: found layer 899 (Conv2D): Input 0")


def test_a_network_on_which_keras_is_busy_too_long_ends_the_command_with_its_file(pgdl, monkeypatch, task):
    monkeypatch.setattr(shapes, "SECONDS", 1e-6)
    in_a_row(123)(task)
    assert pgdl("task", "validate", task).refusal() == (
        f"pgdl: {task / FILE}: Keras could not infer the shapes of the weights: found no answer within 1e-06 s; "
        "run `pgdl doctor`\n"
    )


def test_gap_is_train_minus_test_accuracy_to_the_last_bit(task):
    for model, train, test in (("1", 0.3, 0.1), ("2", 0.17229999999999998, 0.0), ("3", 1, 0)):
        put(model, "metrics", value={"train_acc": train, "test_acc": test})(task)
    gaps = list(read_reference(task / REFERENCE).gaps.values())
    assert gaps[1:4] == [0.3 - 0.1, 0.17229999999999998, 1.0]
    assert gaps[1] != 0.2


def test_ids_become_directory_names_in_natural_order(task):
    """By the competition's rule, an id without "model" in it gets the prefix "model_"."""

    def rename(content):
        content["my_model"] = content.pop("0")
        content["10"] = content.pop("1")

    edit_json(task / REFERENCE, rename)
    reference = read_reference(task / REFERENCE)
    assert reference.models == (
        "model_2", "model_3", "model_4", "model_5", "model_6", "model_7", "model_10", "my_model",
    )  # fmt: skip
