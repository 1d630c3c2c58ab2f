"""Tests of docs/task-format.md: its instructions give a valid task, and its lists agree with the code."""

import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from pages import DOCS, run, sections

from harness.errors import UserError
from harness.format.layer_settings import SUPPORTED, TRAINING_ONLY
from harness.format.reference import read_reference
from harness.format.shards import read_samples
from harness.task.data import read_training_data
from harness.task.layout import TaskDirectory
from tests.throwaway import edit_json

PAGE = (DOCS / "task-format.md").read_text()
REFERENCES = sorted((DOCS.parent / "task_data" / "reference_data").glob("*/model_configs.json"))
EXAMPLE, SCHEMA = (
    json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[-2:]
)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The directory of the page's task, and for each output on the page, the printed text and the page's text."""
    (section,) = sections("task-format.md")
    folder = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PGDL_CACHE", str(folder / "cache"))
        said = list(run(section))
    return folder, said


@pytest.mark.rest
def test_a_task_that_is_written_after_the_page_is_valid(written):
    _, ((printed, said),) = written
    assert printed == said
    assert ": valid\n" in said


def test_its_data_come_back_as_they_were_written_also_with_tensorflow(written):
    folder, _ = written
    (files,) = TaskDirectory(folder).runnable()
    data = read_training_data(files.train)
    expected = np.random.default_rng(0).normal(size=(24, 4)).astype(np.float32)
    np.testing.assert_array_equal(data.inputs, expected)
    np.testing.assert_array_equal(data.labels, np.arange(24) % 3)
    tf = pytest.importorskip("tensorflow")
    shard = next(folder.rglob("shard_0.tfrecord"))
    features = {name: tf.io.FixedLenFeature([], tf.string) for name in ("inputs", "output")}
    records = [tf.io.parse_single_example(record, features) for record in tf.data.TFRecordDataset([str(shard)])]
    for record, (inputs, label) in zip(records, read_samples(shard), strict=True):
        np.testing.assert_array_equal(tf.io.parse_tensor(record["inputs"], tf.float32).numpy(), inputs)
        assert int(tf.io.parse_tensor(record["output"], tf.int32)) == label


def test_every_layer_is_listed_with_the_settings_that_a_measure_sees():
    table = PAGE.partition("| layers | settings |\n|---|---|\n")[2].partition("\n\n")[0]
    listed = {}
    for row in table.splitlines():
        layers, settings = (re.findall(r"`(\w+)`", cell) for cell in row.strip("|").split("|"))
        listed |= dict.fromkeys(layers, settings)
    assert listed == {layer: sorted(settings) for layer, settings in SUPPORTED.items()}
    paragraph = PAGE.partition("are replaced by settings without effect:")[2].strip().partition("\n\n")[0]
    assert re.findall(r"`(\w+)`", paragraph) == sorted(TRAINING_ONLY)


def test_the_example_and_the_shipped_reference_data_meet_the_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for content in (EXAMPLE, *(json.loads(file.read_text()) for file in REFERENCES)):
        jsonschema.validate(content, SCHEMA)


BREAKS = {
    "no models": lambda content: content.clear(),
    "no hyperparameters": lambda content: content["0"]["hparams"].clear(),
    "no metrics": lambda content: content["0"].pop("metrics"),
    "no current value": lambda content: content["0"]["hparams"]["depth"].pop("current_value"),
    "possible values in text": lambda content: content["0"]["hparams"]["depth"].update(possible_values="1, 2"),
    "a list as value": lambda content: content["0"]["hparams"]["depth"].update(current_value=[1]),
    "accuracy in percent": lambda content: content["0"]["metrics"].update(test_acc=87.5),
    "accuracy in text": lambda content: content["0"]["metrics"].update(test_acc="0.875"),
    "no test accuracy": lambda content: content["0"]["metrics"].pop("test_acc"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_what_the_schema_refuses_the_harness_refuses(name, tmp_path: Path):
    file = tmp_path / "model_configs.json"
    file.write_text(json.dumps(EXAMPLE))
    edit_json(file, BREAKS[name])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(file.read_text()), SCHEMA)
    with pytest.raises(UserError):
        read_reference(file)
