"""Computes accuracies of models in canonical form: `python -m harness.worker.accuracies RUNTIME`.

A question is `{"model": DIRECTORY, "data": [DIRECTORY, ...]}` (`harness.worker.service`); a model's directory holds
architecture.json and weights.npz, a data directory inputs.npy and labels.npy. The answer is `{"accuracies": [...]}`,
each in [0, 1].
"""

from pathlib import Path
from typing import Any

import numpy as np

from harness.worker.runtimes import Runtime
from harness.worker.service import Answer, Question, batch_size, serve


def answer(runtime: Runtime, question: Question) -> Answer:
    """Return the accuracies of a model on some data."""
    model = runtime.load_model(Path(question["model"]))
    return {"accuracies": [accuracy(model, Path(part)) for part in question["data"]]}


def accuracy(model: Any, data: Path) -> float:
    """Return the share of examples whose label has the largest output; raises `ArithmeticError` if one is NaN."""
    inputs, labels = (np.load(data / name, mmap_mode="r") for name in ("inputs.npy", "labels.npy"))
    size = batch_size(inputs.shape[1:])
    hits = 0
    for start in range(0, len(inputs), size):
        outputs = np.asarray(model.predict_on_batch(np.asarray(inputs[start : start + size])))
        if np.isnan(outputs).any():
            raise ArithmeticError("its outputs are NaN")
        hits += int(np.count_nonzero(outputs.argmax(axis=1) == labels[start : start + size]))
    return hits / len(labels)


if __name__ == "__main__":
    serve(answer)
