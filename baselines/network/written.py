"""The kernels of a model as Keras stores them: nothing is folded, and a layer that is used twice appears once."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from baselines.core.lazy import tf
from baselines.network.applied import arrays_of, as_applied, kind_of
from baselines.network.nodes import WITH_KERNEL, Array
from baselines.network.reading import outputs_of

#: Kernel of multi-head attention -> number of its leading axes that are inputs.
_PROJECTIONS = {"query": 1, "key": 1, "value": 1, "output": 2}


class WrittenKernel(NamedTuple):
    """The kernel of a dense layer or a convolution, or an embedding matrix."""

    kind: str  #: Keras' class of the layer
    array: Array  #: (..., inputs, outputs), as Keras stores it


def written_kernels(model: Any, weights: Sequence[Array]) -> list[WrittenKernel]:
    """Return the kernels in the order of the layers, including layers of models within the model.

    A separable convolution has two kernels, multi-head attention has four. The model may have shared layers and several
    inputs; `weights` are in the order of `get_weights()`. Raises `MeasureUnavailable` if the model is no graph of
    layers, or if a layer with weights is not Keras' own.
    """
    outputs_of(model)
    given, found = iter(weights), list[WrittenKernel]()
    for layer in dict.fromkeys(_leaves(model)):  # `get_weights()` has a layer once, even if it is used twice
        arrays = tuple(next(given) for _ in layer.weights)
        if arrays:
            found += _kernels(*as_applied(layer, arrays))
    return found


def _leaves(layer: Any) -> Iterator[Any]:
    if isinstance(layer, tf.keras.Model) and getattr(layer, "inputs", None):
        for part in layer.layers:
            yield from _leaves(part)
    else:
        yield layer


def _kernels(layer: Any, arrays: tuple[Array, ...]) -> Iterator[WrittenKernel]:
    kind = kind_of(layer)
    if kind == "MultiHeadAttention":
        for part, n_inputs in _PROJECTIONS.items():
            kernel, *_ = arrays_of(getattr(layer, f"_{part}_dense").weights, layer, arrays)
            yield WrittenKernel("Dense", kernel.reshape(math.prod(kernel.shape[:n_inputs]), -1))
    elif kind in WITH_KERNEL or kind.endswith("Embedding") or (kind == "EinsumDense" and arrays[0].ndim == 2):
        for kernel in arrays[: 2 if kind.startswith("Separable") else 1]:
            yield WrittenKernel(kind, kernel)
