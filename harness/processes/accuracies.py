"""The program that computes accuracies of models in canonical form.

A question is `{"model": DIRECTORY, "data": [DIRECTORY, ...]}`. The directory of a model has architecture.json and
weights.npz, a directory of data has inputs.npy and labels.npy. The answer is `{"accuracies": [...]}`, each in [0, 1].

If the question also has `"inputs": NPY, "layers": [NUMBER, ...], "output": NPZ`, the program writes the outputs of
these layers for the inputs. If `layers` is null, it writes the outputs of the model.
"""

from pathlib import Path
from typing import Any

import numpy as np

from harness.processes.models import Answer, Question, batch_size, faults_of_the_model, of_models
from harness.worker.runtimes import Runtime


def answer(runtime: Runtime, question: Question) -> Answer:
    """Return the model's accuracies. If the question names an output file, write outputs to it."""
    with faults_of_the_model():
        model = runtime.load_model(Path(question["model"]))
        if "output" in question:
            write_outputs(runtime, model, question)
    return {"accuracies": [accuracy(model, Path(part)) for part in question["data"]]}


def write_outputs(runtime: Runtime, model: Any, question: Question) -> None:
    """Write outputs of a model, or of some of its layers, to the file in a question."""
    inputs, numbers = np.load(question["inputs"]), question["layers"]
    layers = [layer for layer in model.layers if not isinstance(layer, runtime.keras.layers.InputLayer)]
    wanted = model if numbers is None else runtime.keras.Model(model.inputs, [layers[n].output for n in numbers])
    size = batch_size(inputs.shape[1:])
    parts = [wanted.predict_on_batch(inputs[start : start + size]) for start in range(0, len(inputs), size)]
    whole = [[part] if numbers is None else part for part in parts]
    np.savez(question["output"], *[np.concatenate(arrays) for arrays in zip(*whole, strict=True)])


def accuracy(model: Any, data: Path) -> float:
    """Return the fraction of examples with the largest output at their label. Raise `FloatingPointError` for NaN."""
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
