"""Translates activations, sums, products, and other operations on each number."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.torch_import.network import TranslatedNetwork
from harness.torch_import.operations.attention import Scores, attend, product_of_heads
from harness.torch_import.operations.convolutions import linear
from harness.torch_import.operations.normalization import Length, normalized
from harness.torch_import.registry import UntranslatableError, translates
from harness.torch_import.values import Value, aligned

#: Name of an operation -> activation of Keras that computes the same.
_ACTIVATIONS = {
    "relu": "relu", "relu6": "relu6", "sigmoid": "sigmoid", "tanh": "tanh", "silu": "silu", "selu": "selu",
    "hardsigmoid": "hard_sigmoid", "softsign": "softsign", "exp": "exponential",
}  # fmt: skip


def _activated(network: TranslatedNetwork, value: Value, name: str) -> Value:
    return network.after(value, "Activation", {"activation": name})


def _activation(name: str) -> Callable[..., Value]:
    return lambda network, x: network.after(x, "ReLU") if name == "relu" else _activated(network, x, name)


for _name, _keras in _ACTIVATIONS.items():
    translates(_name)(_activation(_keras))


@translates("gelu")
def _gelu(network: TranslatedNetwork, x: Value, approximate: str = "none") -> Value:
    """Translate a GELU. Its approximate form becomes several layers: Keras 2 and 3 have no common layer for it."""
    if approximate == "none":
        return _activated(network, x, "gelu")
    factor = 2 * math.sqrt(2 / math.pi)  # x sigmoid(2u) equals x (1 + tanh(u)) / 2, the approximate form
    inside = network.after(_multiplied(network, x, x), "Rescaling", {"scale": factor * 0.044715, "offset": factor})
    return _multiplied(network, x, _activated(network, _multiplied(network, x, inside), "sigmoid"))


@translates("hardswish")
def _hardswish(network: TranslatedNetwork, x: Value) -> Value:
    return _multiplied(network, x, _activated(network, x, "hard_sigmoid"))


@translates("mish")
def _mish(network: TranslatedNetwork, x: Value) -> Value:
    return _multiplied(network, x, _activated(network, _activated(network, x, "softplus"), "tanh"))


@translates("softplus")
def _softplus(network: TranslatedNetwork, x: Value, beta: float = 1, threshold: float = 20) -> Value:
    """Translate log(1 + exp(x)). For x above `threshold`, PyTorch returns x, which is equal in float32 from 20 on."""
    if beta != 1 or threshold < 20:
        raise UntranslatableError("has a beta or threshold, which Keras does not have")
    return _activated(network, x, "softplus")


@translates("leaky_relu")
def _leaky_relu(network: TranslatedNetwork, x: Value, negative_slope: float = 0.01) -> Value:
    return network.after(x, "LeakyReLU", {"negative_slope": negative_slope})


@translates("elu")
def _elu(network: TranslatedNetwork, x: Value, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    if (scale, input_scale) != (1, 1):
        raise UntranslatableError("has scales, which Keras does not have")
    return network.after(x, "ELU", {"alpha": alpha})


@translates("hardtanh", "clamp")
def _clamp(network: TranslatedNetwork, x: Value, **bounds: Any) -> Value:
    """Translate a lower bound of 0, and perhaps an upper bound, into a ReLU."""
    low, high = bounds.get("min_val", bounds.get("min")), bounds.get("max_val", bounds.get("max"))
    if low != 0:
        raise UntranslatableError(f"cuts numbers off below {low}")
    return network.after(x, "ReLU", {} if high is None else {"max_value": float(high)})


@translates("log_softmax")
def _log_softmax(network: TranslatedNetwork, x: Value, dim: int, **_: Any) -> Value:
    return _activated(network, network.with_last(x, x.view[dim]), "log_softmax")


@translates("softmax")
def _softmax(network: TranslatedNetwork, x: Value, dim: int, **_: Any) -> Value:
    """Translate a softmax. A softmax over the scores of an attention is only noted in `Scores`."""
    if isinstance(x.source, Scores):
        return x.source.normalized(x, dim)
    value = network.with_last(x, x.view[dim])
    return _activated(network, value, "softmax")


@translates("add")
def _add(network: TranslatedNetwork, x: Any, other: Any, alpha: float = 1) -> Value:
    if isinstance(x, Value) and isinstance(other, Value):
        return _merged(network, "Add", x, _times(network, other, alpha))
    value, numbers = (x, np.multiply(alpha, other)) if isinstance(x, Value) else (_times(network, other, alpha), x)
    if isinstance(value.source, Scores):
        return value.source.shifted(value, numbers)
    return network.shifted(value, numbers)


def _times(network: TranslatedNetwork, value: Value, factor: float) -> Value:
    return value if factor == 1 else _mul(network, value, factor)


@translates("sub")
def _sub(network: TranslatedNetwork, x: Any, other: Any, alpha: float = 1) -> Value:
    if isinstance(x, Value) and isinstance(other, Value):
        return _merged(network, "Subtract", x, _times(network, other, alpha))
    if isinstance(x, Value):
        return _add(network, x, np.negative(other), alpha)
    return network.shifted(network.scaled(other, -alpha), x)


@translates("rsub")
def _rsub(network: TranslatedNetwork, x: Value, other: Any, alpha: float = 1) -> Value:
    return _sub(network, other, x, alpha)


@translates("mul")
def _mul(network: TranslatedNetwork, x: Any, other: Any) -> Value:
    if isinstance(x, Value) and isinstance(other, Value):
        return _multiplied(network, x, other)
    value, numbers = (x, other) if isinstance(x, Value) else (other, x)
    if isinstance(value.source, Scores):
        return value.source.scaled(value, numbers)
    return network.scaled(value, numbers)


@translates("div")
def _div(network: TranslatedNetwork, x: Any, other: Any) -> Value:
    """Translate a division by constants, or of vectors by their own lengths."""
    if isinstance(other, Value) and isinstance(other.source, Length):
        return normalized(network, x, other.source)
    if isinstance(other, Value):
        raise UntranslatableError("divides by a computed value, which no layer does")
    return _mul(network, x, 1 / np.asarray(other, np.float32))


@translates("neg")
def _neg(network: TranslatedNetwork, x: Value) -> Value:
    return network.scaled(x, -1)


@translates("pow", "square")
def _power(network: TranslatedNetwork, x: Value, exponent: float = 2) -> Value:
    if exponent != 2:
        raise UntranslatableError("is a power other than the square")
    return _multiplied(network, x, x)


@translates("maximum")
def _maximum(network: TranslatedNetwork, x: Value, other: Value) -> Value:
    return _merged(network, "Maximum", x, other)


@translates("minimum")
def _minimum(network: TranslatedNetwork, x: Value, other: Value) -> Value:
    return _merged(network, "Minimum", x, other)


@translates("matmul", "bmm")
def _matmul(network: TranslatedNetwork, x: Any, other: Any = None, mat2: Any = None) -> Value:
    """Translate a product inside an attention, or a product with a constant matrix."""
    other = mat2 if other is None else other
    if isinstance(x, Value) and isinstance(other, Value):
        return attend(network, x, other) if isinstance(x.source, Scores) else product_of_heads(x, other)
    if isinstance(x, Value) and np.ndim(other) == 2:
        return linear(network, x, other.T)
    raise UntranslatableError("multiplies a computed value from the left, or by several matrices")


def _multiplied(network: TranslatedNetwork, one: Value, other: Value) -> Value:
    return _merged(network, "Multiply", one, other)


def _merged(network: TranslatedNetwork, kind: str, one: Value, other: Value) -> Value:
    """Return the output of a layer such as `Add` for two values, with the axes of the value with more elements."""
    if math.prod(one.shape) < math.prod(other.shape) and kind != "Subtract":
        one, other = other, one
    if any(isinstance(value.source, Scores) for value in (one, other)):
        raise UntranslatableError("combines scores of an attention with a computed value")
    one, other = aligned(network.settled(one), network.settled(other))
    if any(mine == () and theirs for mine, theirs in zip(one.view, other.view, strict=True)):
        return _repeated(network, kind, one, other)
    there = {axis for group in other.view for axis in group}
    if any(len({axis in there for axis in group}) == 2 for group in one.stored):
        raise UntranslatableError("repeats a value along a part of an axis")
    stored = tuple(group if not group or group[0] in there else () for group in one.stored)
    other = network.stored_as(other, stored)
    number = network.add(kind, [network.source(one), network.source(other)])
    return Value(number, one.stored, one.view)


def _repeated(network: TranslatedNetwork, kind: str, one: Value, other: Value) -> Value:
    """Return the output of a layer such as `Add` for two feature maps that broadcast along different axes."""
    if len(one.view) != 4:
        raise UntranslatableError(f"broadcasts both of the shapes {one.shape} and {other.shape}")
    placed = [network.stored_as(value, (*value.view[2:], value.view[1])) for value in (one, other)]
    number = network.add(kind, [network.source(value) for value in placed])
    view = tuple(mine or theirs for mine, theirs in zip(one.view, other.view, strict=True))
    return Value(number, (*view[2:], view[1]), view)
