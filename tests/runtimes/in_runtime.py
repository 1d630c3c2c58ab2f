"""Programs that tests run in a process with one runtime.

in_runtime.py RUNTIME forward DIR...   outputs-RUNTIME.npy of staged models, on inputs.npy beside them
in_runtime.py RUNTIME modes DIR...     JSON: differences of the outputs in inference mode from outputs in training mode,
                                       from outputs of copies, and from the softmax of `model.logits`
in_runtime.py RUNTIME imports          JSON: threads, frameworks that were imported, and errors for the others
in_runtime.py RUNTIME weights DIR      JSON: the last weights of a staged model built without drawing, the spread of
                                       its initializer's next draws, and the model's own last weights
in_runtime.py RUNTIME functions DIR    JSON: the operations of which TensorFlow has made a function after a staged model
                                       and data have been loaded, and after an operation on them
in_runtime.py RUNTIME draws            JSON: random numbers of every library under seed 0
in_runtime.py RUNTIME bars             output of fit, evaluate and predict; after a line of dashes, of predict with a
                                       progress bar
"""

import copy
import importlib
import json
import pickle
import random
import sys
from pathlib import Path

import numpy as np

from harness.worker.architecture import undrawn
from harness.worker.runtimes import RUNTIMES
from harness.worker.runtimes.runtime import FRAMEWORKS, without

runtime = RUNTIMES[sys.argv[1]]


def forward(directories):
    for directory in map(Path, directories):
        outputs = as_array(runtime.load_model(directory)(np.load(directory / "inputs.npy"), training=False))
        np.save(directory / f"outputs-{runtime.name}.npy", outputs)


def modes(*directories):
    print(json.dumps([modes_of(directory) for directory in directories]))


def modes_of(directory):
    model, inputs = runtime.load_model(Path(directory)), np.load(Path(directory) / "inputs.npy")
    inferred, trained, unsaid = (
        as_array(model(inputs, **mode)) for mode in ({"training": False}, {"training": True}, {})
    )
    logits = as_array(model.logits(inputs))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    differences = {"trained": trained, "unsaid": unsaid, "shares": shares, "again": as_array(model(inputs))}
    for way, copied in copies_of(model).items():
        differences[way] = as_array(copied(inputs))
        differences[f"{way}, trained"] = as_array(copied(inputs, training=True))
    found = {name: float(np.abs(outputs - inferred).max()) for name, outputs in differences.items()}
    layers = [type(layer).__name__ for layer in model.layers]
    kinds = runtime.keras.layers.Conv2D, runtime.keras.layers.Dense, runtime.keras.layers.Dropout
    own = [type(layer).__name__ for layer in model.layers if type(layer) in kinds]
    return {"differences": found, "layers": layers, "own": own, "logits": logits.tolist()}


def copies_of(model):
    """Return way of copying -> a copy of the model that was made in this way."""
    found = {"deepcopy": copy.deepcopy(model), "pickle": pickle.loads(pickle.dumps(model))}
    made = {"clone": runtime.keras.models.clone_model(model), "config": type(model).from_config(model.get_config())}
    for copied in made.values():
        copied.set_weights(model.get_weights())
    return found | made


def as_array(outputs):
    return outputs.detach().numpy() if runtime.name == "torch" else np.asarray(outputs)


def imports():
    threads, loaded = len(list(Path("/proc/self/task").iterdir())), sorted(set(FRAMEWORKS) & set(sys.modules))
    errors = {}
    for framework in set(FRAMEWORKS) - {runtime.framework}:
        try:
            importlib.import_module(framework)
        except ImportError as error:
            errors[framework] = str(error)
    print(json.dumps({"threads": threads, "loaded": loaded, "errors": errors, "versions": runtime.versions}))


def weights(directory):
    architecture = json.loads(Path(directory, "architecture.json").read_text())
    with undrawn(runtime.keras):
        built = runtime.build_model(architecture)
    model = runtime.load_model(Path(directory))
    drawn = as_array(model.layers[-1].kernel_initializer((50, 50)))
    found = [built.layers[-1].get_weights()[0].tolist(), float(drawn.std()), model.layers[-1].get_weights()[0].tolist()]
    print(json.dumps(found))


def functions(directory):
    from tensorflow.python.eager import context

    def optimized():
        names = context.context().list_function_names()
        return sorted(name.partition("_device_")[0] for name in names if name.startswith("__wrapped__"))

    model, dataset = runtime.load_model(Path(directory)), runtime.load_dataset(Path(directory))
    loaded = optimized()
    for inputs, _labels in dataset.batch(2).take(1):
        model(inputs)
    print(json.dumps([loaded, optimized()]))


def draws():
    runtime.seed(0)
    drawn = {"python": [random.random() for _ in range(2000)], "numpy": np.random.rand(2000).tolist()}
    uniform = runtime.keras.initializers.RandomUniform(0.0, 1.0)
    drawn["keras"] = [float(number) for number in uniform([2000])]
    if runtime.framework == "torch":
        import torch

        drawn["torch"] = torch.rand(2000, dtype=torch.float64).tolist()
    print(json.dumps(drawn))


def bars():
    model = runtime.keras.Sequential([runtime.keras.layers.Dense(1)])
    inputs, targets = np.zeros((4, 3), np.float32), np.zeros((4, 1), np.float32)
    model.compile(loss="mse")
    model.fit(inputs, targets)
    model.evaluate(inputs, targets)
    model.predict(inputs)
    print("---")
    model.predict(inputs, verbose=1)


if sys.argv[2] == "forward":
    with without("sklearn"):  # no layer needs it, and its import takes a second
        runtime.import_libraries()
    forward(sys.argv[3:])
else:
    runtime.import_libraries()
    programs = imports, draws, weights, functions, modes, bars
    {program.__name__: program for program in programs}[sys.argv[2]](*sys.argv[3:])
