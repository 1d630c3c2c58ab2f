import pytest
from throwaway import edit_json, make_task

from harness.format.reference import read_reference

FILE = "model_configs.json"


def put(*keys, value):
    """Set one value deep inside the file."""

    def change(content):
        *holders, last = keys
        for key in holders:
            content = content[key]
        content[last] = value

    return lambda task: edit_json(task / FILE, change)


def drop(*keys):
    def change(content):
        *holders, last = keys
        for key in holders:
            content = content[key]
        del content[last]

    return lambda task: edit_json(task / FILE, change)


def text(written):
    return lambda task: (task / FILE).write_text(written)


def current(model, value):
    return put(model, "hparams", "width", "current_value", value=value)


def accuracy(name, value):
    return put("4", "metrics", name, value=value)


CASES = [
    ("not JSON", text("{"), "expected a JSON object, found Expecting property name"),
    ("key twice", text('{"0": {}, "0": {}}'), "expected distinct keys, found '0' twice"),
    ("id twice", put("model_0", value={}), "expected one entry for model_0, found 'model_0' and another"),
    ("no models", text("{}"), "expected at least one model and one hyperparameter, found 0 models"),
    ("full cell", current("1", 4), "width=4): expected one model, found 'model_0' and 'model_1'"),
    ("impossible value", current("1", 5), "hyperparameter 'width': expected one of 4, 6, found 5"),
    (
        "other possible values",
        put("1", "hparams", "width", "possible_values", value=[4, 8]),
        "model_1: hparams.width.possible_values: expected [4, 6] as in model_0, found [4, 8]",
    ),
    (
        "no current value",
        drop("2", "hparams", "depth", "current_value"),
        "model_2: hparams.depth: expected a current_value, found none",
    ),
    (
        "no possible values",
        drop("2", "hparams", "depth", "possible_values"),
        "model_2: hparams.depth.possible_values: expected a list, found none",
    ),
    ("no hyperparameter", drop("2", "hparams", "depth"), "expected the hyperparameters activation, depth"),
    ("no hyperparameters", drop("2", "hparams"), "model_2: hparams: expected an object, found none"),
    ("no metrics", drop("2", "metrics"), "model_2: metrics: expected an object, found none"),
    ("above 1", accuracy("train_acc", 98.5), "metrics.train_acc: expected a number in [0, 1], found 98.5"),
    (
        "NaN",
        accuracy("test_acc", float("nan")),
        "model_4: metrics.test_acc: expected a number in [0, 1], found nan",
    ),
    ("infinite", accuracy("test_acc", float("inf")), "expected a number in [0, 1], found inf"),
    ("as text", accuracy("test_acc", "0.9"), "expected a number in [0, 1], found text ('0.9')"),
    ("true", accuracy("test_acc", True), "expected a number in [0, 1], found true"),
    ("missing", drop("4", "metrics", "test_acc"), "expected a number in [0, 1], found none"),
]


@pytest.mark.parametrize(("break_it", "message"), [pytest.param(*case, id=name) for name, *case in CASES])
def test_broken_reference(tmp_path, refused, break_it, message):
    task = make_task(tmp_path)
    break_it(task)
    refused(task, FILE, message)


def test_gap_is_train_minus_test_accuracy_to_the_last_bit(tmp_path):
    task = make_task(tmp_path)
    put("1", "metrics", value={"train_acc": 0.3, "test_acc": 0.1})(task)
    put("2", "metrics", value={"train_acc": 0.17229999999999998, "test_acc": 0.0})(task)
    put("3", "metrics", value={"train_acc": 1, "test_acc": 0})(task)
    gaps = read_reference(task / FILE).gaps
    assert gaps["model_1"] == 0.3 - 0.1 != 0.2
    assert gaps["model_2"] == 0.17229999999999998
    assert gaps["model_3"] == 1.0


def test_ids_become_directory_names_in_natural_order(tmp_path):
    """The competition's rule: an id without "model" in it gets the prefix "model_"."""
    task = make_task(tmp_path)

    def rename(content):
        content["my_model"] = content.pop("0")
        content["10"] = content.pop("1")

    edit_json(task / FILE, rename)
    reference = read_reference(task / FILE)
    assert reference.models == (
        "model_2",
        "model_3",
        "model_4",
        "model_5",
        "model_6",
        "model_7",
        "model_10",
        "my_model",
    )
