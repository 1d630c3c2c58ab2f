"""Computes accuracies of models in canonical form: `python -m harness.worker.accuracies RUNTIME`.

Reads one JSON object per line from standard input: `{"model": DIRECTORY, "data": [DIRECTORY, ...]}`; a model's
directory holds architecture.json and weights.npz, a data directory inputs.npy and labels.npy. Writes one per line to
standard output: `{"accuracies": [...]}`, each in [0, 1], or `{"error": MESSAGE}`. Runs in a process of its own with a
limit on its memory: the models come from strangers.
"""

import json
import math
import os
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np

from harness.worker.runtimes import RUNTIMES, Runtime

#: Part of the machine's memory that a model may use.
MEMORY = 0.6

#: Numbers of inputs in a batch, and most examples.
BATCH_NUMBERS, BATCH = 2**22, 512


def main() -> None:
    """Answer until the input ends; output printed by the libraries goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    limit = int(MEMORY * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    runtime = RUNTIMES[sys.argv[1]]
    runtime.import_libraries()
    runtime.prepare_devices()
    for number, line in enumerate(sys.stdin):
        if number % 8 == 0:
            runtime.keras.backend.clear_session()  # frees earlier models
        order = json.loads(line)
        answer = _answer(runtime, Path(order["model"]), [Path(path) for path in order["data"]])
        answers.write(json.dumps(answer) + "\n")


def _answer(runtime: Runtime, directory: Path, data: list[Path]) -> dict[str, Any]:
    from harness.worker.architecture import ArchitectureError

    try:
        model = runtime.load_model(directory)
        return {"accuracies": [accuracy(model, part) for part in data]}
    except MemoryError:
        return {"error": "out of memory"}
    except (ArchitectureError, ArithmeticError) as error:
        return {"error": str(error)}
    except Exception as error:  # the frameworks have many types for layers that fail as they compute
        return {"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]}


def accuracy(model: Any, data: Path) -> float:
    """Return the share of examples whose label has the largest output; raises `ArithmeticError` if one is NaN."""
    inputs, labels = (np.load(data / name, mmap_mode="r") for name in ("inputs.npy", "labels.npy"))
    size = max(1, min(BATCH, BATCH_NUMBERS // math.prod(inputs.shape[1:])))
    hits = 0
    for start in range(0, len(inputs), size):
        outputs = np.asarray(model.predict_on_batch(np.asarray(inputs[start : start + size])))
        if np.isnan(outputs).any():
            raise ArithmeticError("its outputs are NaN")
        hits += int(np.count_nonzero(outputs.argmax(axis=1) == labels[start : start + size]))
    return hits / len(labels)


if __name__ == "__main__":
    main()
