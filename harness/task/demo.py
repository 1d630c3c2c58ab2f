"""Writes the task of `pgdl demo`: the models of the task digits_nin that have three convolutions."""

from pathlib import Path

from harness.format.files import read_json
from harness.format.layout import INPUTS, REFERENCE, REFERENCES, TRAIN, model_name
from harness.format.reference import write_reference
from harness.shipped import copy_files

NAME = "digits_nin_small"

_SOURCE = "digits_nin"

#: The hyperparameter and its value for which models are chosen. The written task does not have this hyperparameter.
_FIXED, _VALUE = "n_convolutions", 3


def write_demo_task(task_data: Path, target: Path) -> int:
    """Write the demo task, a part of digits_nin in `task_data`, to `target`. Return the number of models."""
    models, data = task_data / INPUTS / _SOURCE, target / INPUTS / NAME
    entries = {
        model: entry | {"hparams": {name: values for name, values in entry["hparams"].items() if name != _FIXED}}
        for model, entry in read_json(task_data / REFERENCES / _SOURCE / REFERENCE).items()
        if entry["hparams"][_FIXED]["current_value"] == _VALUE
    }
    copy_files(models / TRAIN, data / TRAIN)
    for model in map(model_name, entries):
        copy_files(models / model, data / model)
    write_reference(target / REFERENCES / NAME / REFERENCE, entries)
    return len(entries)
