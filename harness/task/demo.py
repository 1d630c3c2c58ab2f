"""The task of `pgdl demo`: the models of the demo task digits_nin that have three convolutions."""

from pathlib import Path
from typing import Any

from harness.format.files import read_json
from harness.format.layout import INPUTS, REFERENCE, REFERENCES, TRAIN, model_name
from harness.format.reference import write_reference
from harness.shipped import copy_files

NAME = "digits_nin_small"

_SOURCE = "digits_nin"

#: The hyperparameter that is constant among the selected models, and its value: these models are the smallest.
_FIXED, _VALUE = "n_convolutions", 3


def write_demo_task(task_data: Path, target: Path) -> int:
    """Write the task to `target`, in the full layout, without test data; returns the number of models.

    `task_data` contains digits_nin, or at least the selected models, which keep their numbers.
    """
    models, data = task_data / INPUTS / _SOURCE, target / INPUTS / NAME
    entries = _selected(read_json(task_data / REFERENCES / _SOURCE / REFERENCE))
    copy_files(models / TRAIN, data / TRAIN)
    for model in map(model_name, entries):
        copy_files(models / model, data / model)
    write_reference(target / REFERENCES / NAME / REFERENCE, entries)
    return len(entries)


def _selected(content: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of the selected models, without the hyperparameter that is constant among them."""
    return {
        model: entry | {"hparams": {name: values for name, values in entry["hparams"].items() if name != _FIXED}}
        for model, entry in content.items()
        if entry["hparams"][_FIXED]["current_value"] == _VALUE
    }
