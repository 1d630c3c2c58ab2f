"""Singular values and spectral norms of all layers, cached for all measures.

A convolution has three spectral norms: of its kernel as a matrix, which is the usual approximation; of the convolution
with periodic borders; and of the actual layer, with its padding and strides. All three are equal for dense layers and
for windows of a single pixel.
"""

import numpy as np

from baselines.core.needs import MeasureUnavailable
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.norm.linear_map import LinearMap, changed_maps, trained_maps
from baselines.norm.operator_norm import fourier_norm, gram, operator_norm


@shared
def singular_values(subject: Subject, change: bool = False) -> list[Array]:
    """Return the singular values of each kernel as a matrix; with `change`, of its change by training.

    They are computed as square roots of a Gram matrix's eigenvalues, which is much faster than a decomposition. Values
    below 1e-7 of the largest, the resolution of float32, are set to 0.
    """
    return [_singular_values(subject, change, number) for number in range(len(_maps(subject, change)))]


@shared
def _singular_values(subject: Subject, change: bool, number: int) -> Array:
    squares = np.linalg.eigvalsh(gram(_maps(subject, change)[number].matrices)).ravel()
    found: Array = np.sqrt(np.where(squares > 1e-14 * squares.max(), squares, 0.0))
    return found


@shared
def squared_frobenius(subject: Subject, change: bool = False) -> Array:
    """Return the squared Frobenius norms (d,) of the d kernels; with `change`, of their changes by training."""
    return np.array([np.sum(np.square(layer.kernel)) for layer in _maps(subject, change)])


@shared
def squared_matrix_norms(subject: Subject, change: bool = False) -> Array:
    """Return the squared spectral norms (d,) of the d kernels as matrices; with `change`, of their changes."""
    return np.array([values.max() ** 2 for values in singular_values(subject, change)])


@shared
def squared_fourier_norms(subject: Subject, change: bool = False, *, fft_size: str = "layer") -> Array:
    """Return the squared spectral norms (d,) of the d layers as convolutions with periodic borders.

    With `fft_size` "layer", a layer has its own stride and size of the input feature map; if the stride does not divide
    the size, the norm is that of the layer with its own padding. With "dataset", as in Dziugaite et al. 2020, every
    layer has the size of the network's inputs, and stride 1. `change` is explained at `singular_values`.
    """
    if fft_size not in ("layer", "dataset"):
        raise ValueError(f"fft_size: expected layer or dataset, found {fft_size}")
    sides = subject.network.input_sides if fft_size == "dataset" else None
    layers = range(len(_maps(subject, change)))
    return np.array([_fourier_norm(subject, change, number, sides) ** 2 for number in layers])


def _fourier_norm(subject: Subject, change: bool, number: int, of_inputs: tuple[int, ...] | None) -> float:
    layer = _maps(subject, change)[number]
    if layer.is_pointwise:
        return float(_singular_values(subject, change, number).max())
    periodic = layer.adjoint if layer.node.kind.endswith("Transpose") else layer
    sides, strides = periodic.sides, periodic.strides
    if of_inputs is not None:
        sides, strides = of_inputs, (1,) * len(layer.window)
    if len(sides) != len(layer.window):
        raise MeasureUnavailable(
            f"layer {layer.node.name}: fft_size=dataset needs inputs with {len(layer.window)} sides, found {len(sides)}"
        )
    extents = [rate * (taps - 1) + 1 for rate, taps in zip(layer.dilation, layer.window, strict=True)]
    sides = tuple(map(max, sides, extents))
    if any(side % stride for side, stride in zip(sides, strides, strict=True)):
        return _operator_norm(subject, change, number)
    return fourier_norm(periodic, sides, strides)


@shared
def squared_operator_norms(subject: Subject, change: bool = False) -> Array:
    """Return the squared spectral norms (d,) of the d layers with their own padding and strides.

    `change` is explained at `singular_values`.
    """
    return np.array([_operator_norm(subject, change, number) ** 2 for number in range(len(_maps(subject, change)))])


@shared
def _operator_norm(subject: Subject, change: bool, number: int) -> float:
    layer = _maps(subject, change)[number]
    return float(_singular_values(subject, change, number).max()) if layer.is_pointwise else operator_norm(layer)


def _maps(subject: Subject, change: bool) -> list[LinearMap]:
    return changed_maps(subject) if change else trained_maps(subject)
