"""The program that infers the shapes of an architecture's weights and output with Keras.

A question is an architecture in canonical form. The answer is `{"layers": [{"class_name", "weights": [{"name",
"shape"}]}], "output_shape": [...]}`; shapes have no batch axis.
"""

from typing import Any

from harness.processes.models import Answer, Question, faults_of_the_model, of_models
from harness.worker.runtimes import Runtime


def describe(runtime: Runtime, architecture: Question) -> Answer:
    """Return the shapes of an architecture's weights and output. Raise `UserError` for an invalid architecture."""
    # Within this scope, Keras allocates no memory for weights.
    with faults_of_the_model(), runtime.keras.StatelessScope(initialize_variables=False):
        model = runtime.build_model(architecture)
    layers = [layer for layer in model.layers if not isinstance(layer, runtime.keras.layers.InputLayer)]
    return {
        "layers": [{"class_name": type(layer).__name__, "weights": _weights(layer)} for layer in layers],
        "output_shape": list(model.output_shape[1:]),
    }


def _weights(layer: Any) -> list[dict[str, Any]]:
    """Return name and shape of each weight of a layer; names are as in Keras 3, such as `kernel` or `query/kernel`."""
    return [
        {"name": _path(weight).rpartition(f"{layer.name}/")[2], "shape": [int(n) for n in weight.shape]}
        for weight in layer.weights
    ]


def _path(weight: Any) -> str:
    return str(getattr(weight, "path", weight.name)).split(":")[0]


prepare = of_models(describe)
