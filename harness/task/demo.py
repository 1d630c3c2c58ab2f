"""The task of `pgdl demo`: the models of the demo task digits_nin that have three convolutions."""

import json
from pathlib import Path
from typing import Any

from harness.shipped import copy_files
from harness.task.files import read_json
from harness.task.layout import REFERENCE
from harness.task.reference import directory_name

NAME = "digits_nin_small"

_SOURCE = "digits_nin"

#: The hyperparameter that does not vary among the models taken, and its value: these models are the smallest.
_FIXED, _VALUE = "n_convolutions", 3


def write_demo_task(task_data: Path, target: Path) -> int:
    """Write the task into `target`, in the full layout, without test data; returns the number of models.

    `task_data` holds digits_nin, at least the models in question. They keep their numbers.
    """
    models, data = task_data / "input_data" / _SOURCE, target / "input_data" / NAME
    entries = _chosen(read_json(task_data / "reference_data" / _SOURCE / REFERENCE))
    copy_files(models / "dataset_1" / "train", data / "dataset_1" / "train")
    for model in map(directory_name, entries):
        copy_files(models / model, data / model)
    reference = target / "reference_data" / NAME
    reference.mkdir(parents=True)
    (reference / REFERENCE).write_text(json.dumps(entries, indent=2))
    return len(entries)


def _chosen(content: dict[str, Any]) -> dict[str, Any]:
    """The entries of the models taken, without the hyperparameter in which they agree."""
    return {
        model: entry | {"hparams": {name: values for name, values in entry["hparams"].items() if name != _FIXED}}
        for model, entry in content.items()
        if entry["hparams"][_FIXED]["current_value"] == _VALUE
    }
