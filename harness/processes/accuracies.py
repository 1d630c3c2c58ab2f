"""The program that computes accuracies of models in canonical form.

A question is `{"model": DIRECTORY, "data": [DIRECTORY, ...]}`; a model's directory holds architecture.json and
weights.npz, a data directory inputs.npy and labels.npy. The answer is `{"accuracies": [...]}`, each in [0, 1].
"""

from pathlib import Path
from typing import Any

import numpy as np

from harness.processes.models import Answer, Question, batch_size, faults_of_the_model, of_models
from harness.worker.runtimes import Runtime


def answer(runtime: Runtime, question: Question) -> Answer:
    """Return the accuracies of a model on some data."""
    with faults_of_the_model():
        model = runtime.load_model(Path(question["model"]))
    return {"accuracies": [accuracy(model, Path(part)) for part in question["data"]]}


def accuracy(model: Any, data: Path) -> float:
    """Return the share of examples whose label has the largest output; raises `FloatingPointError` if one is NaN."""
    inputs, labels = (np.load(data / name, mmap_mode="r") for name in ("inputs.npy", "labels.npy"))
    size = batch_size(inputs.shape[1:])
    hits = 0
    for start in range(0, len(inputs), size):
        with faults_of_the_model():
            outputs = np.asarray(model.predict_on_batch(np.asarray(inputs[start : start + size])))
        if np.isnan(outputs).any():
            raise FloatingPointError("its outputs are NaN")
        hits += int(np.count_nonzero(outputs.argmax(axis=1) == labels[start : start + size]))
    return hits / len(labels)


prepare = of_models(answer)
