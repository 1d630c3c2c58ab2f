"""Describes the weights and the output of architectures in Keras: `python -m harness.worker.describe RUNTIME`.

Reads a JSON list of architectures in canonical form from standard input. Writes a JSON list with one object each to
standard output: `{"layers": [{"class_name", "weights": [{"name", "shape"}]}], "output_shape": [...]}`, shapes
without the batch axis, or `{"error": MESSAGE}` for an architecture that Keras rejects. Runs in its own process,
because the harness never imports a framework.
"""

import json
import os
import sys
from typing import Any

from harness.worker.runtimes import RUNTIMES, Runtime
from harness.worker.runtimes.runtime import without


def main() -> None:
    """Answer one list of architectures; output printed by the libraries goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runtime = RUNTIMES[sys.argv[1]]
    with without("sklearn"):  # Keras would import it if installed: a third of the seconds that this program takes
        runtime.import_libraries()
    descriptions = []
    for number, architecture in enumerate(json.load(sys.stdin)):
        if number % 8 == 0:
            runtime.keras.backend.clear_session()  # frees earlier models; slower than building one
        descriptions.append(describe(architecture, runtime))
    json.dump(descriptions, answers)
    answers.close()


def describe(architecture: dict[str, Any], runtime: Runtime) -> dict[str, Any]:
    """Describe one architecture in the form given in the module's docstring."""
    from harness.worker.architecture import ArchitectureError

    try:
        with runtime.keras.StatelessScope(initialize_variables=False):  # no memory for weights, however many
            model = runtime.build_model(architecture)
    except ArchitectureError as error:
        return {"error": str(error)}
    layers = [layer for layer in model.layers if not isinstance(layer, runtime.keras.layers.InputLayer)]
    return {
        "layers": [{"class_name": type(layer).__name__, "weights": _weights(layer)} for layer in layers],
        "output_shape": list(model.output_shape[1:]),
    }


def _weights(layer: Any) -> list[dict[str, Any]]:
    """Return names and shapes; names as in Keras 3 (`kernel`, or `query/kernel` inside of the layer)."""
    return [
        {"name": _path(weight).rpartition(f"{layer.name}/")[2], "shape": [int(n) for n in weight.shape]}
        for weight in layer.weights
    ]


def _path(weight: Any) -> str:
    """Return the name of a weight after those of the layers around it."""
    return str(getattr(weight, "path", weight.name)).split(":")[0]


if __name__ == "__main__":
    main()
