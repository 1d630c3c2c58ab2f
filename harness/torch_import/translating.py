"""The program that translates untrusted `.pt2` files in a process with limited memory.

A question (a request to the program) is `{"file": PT2, "initial": PT2 or null, "directory": DIRECTORY}`. The program
writes model.json (Keras' own JSON), weights.npz and, if there are initial weights, initial.npz into the directory. Both
archives have the form of `numpy.savez(path, *model.get_weights())`. The answer is empty.
"""

import json
from pathlib import Path

import numpy as np

from harness.errors import UserError
from harness.processes.models import Answer, Question, plain
from harness.torch_import.keras_config import KerasModel
from harness.torch_import.pt2 import read_pt2
from harness.torch_import.translate import translate

MODEL, WEIGHTS, INITIAL = "model.json", "weights.npz", "initial.npz"


def answer(question: Question) -> Answer:
    """Answer a question; raises `UserError` if a file cannot be translated, or both files have different networks."""
    directory, file, initial = (Path(question[name] or ".") for name in ("directory", "file", "initial"))
    model = translate(read_pt2(file)).model
    (directory / MODEL).write_text(json.dumps(model.config), encoding="utf-8")
    _write(model, directory / WEIGHTS)
    if question["initial"]:
        before = translate(read_pt2(initial)).model
        if before.architecture.digest != model.architecture.digest:
            raise UserError("initial weights", file=initial, expected=f"the network of {file}", found="another one")
        _write(before, directory / INITIAL)
    return {}


def _write(model: KerasModel, path: Path) -> None:
    np.savez(path, *[array for layer in model.weights.values() for array in layer])


prepare = plain(answer)
