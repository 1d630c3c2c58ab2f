"""Computes operations on constants, such as weights, with NumPy, so that they need no layer in the translation."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.torch_import.pt2 import TYPES, Array
from harness.torch_import.registry import UntranslatableError


def _dims(dim: Any) -> tuple[int, ...] | None:
    return tuple(dim) if isinstance(dim, list) else None if dim is None else (dim,)


def _expand(x: Array, size: Sequence[int], **_: Any) -> Array:
    shape = [0] * (len(size) - x.ndim) + list(x.shape)
    return np.broadcast_to(x, [have if wanted == -1 else wanted for have, wanted in zip(shape, size, strict=True)])


def _slice(x: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Array:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _index(x: Array, indices: Sequence[Any]) -> Array:
    return x[tuple(slice(None) if index is None else index for index in indices)]


def _var(x: Array, dim: Any = None, unbiased: bool = True, correction: Any = None, keepdim: bool = False) -> Array:
    ddof = int(unbiased) if correction is None else int(correction)
    return np.asarray(x.var(axis=_dims(dim), ddof=ddof, keepdims=keepdim))


def _linear(x: Array, weight: Array, bias: Array | float = 0.0) -> Array:
    return np.asarray(x @ weight.T + bias, np.float32)


def _batch_norm(
    x: Array, weight: Any = None, bias: Any = None, running_mean: Any = None, running_var: Any = None,
    training: bool = False, eps: float = 1e-5, **_: Any,
) -> Array:  # fmt: skip
    """Apply batch normalization to a constant, such as the kernel of a convolution with standardized weights."""
    axes, shape = (0, *range(2, x.ndim)), (1, -1, *[1] * (x.ndim - 2))
    mean, variance = (x.mean(axes), x.var(axes)) if training else (running_mean, running_var)
    factor = (1.0 if weight is None else weight) / np.sqrt(variance + eps)
    shift = (0.0 if bias is None else bias) - mean * factor
    return np.asarray(x * factor.reshape(shape) + shift.reshape(shape), np.float32)


def _filled(value: float) -> Callable[..., Array]:
    def make(first: Any, size: Any = None, dtype: Any = None, **_: Any) -> Array:
        shape = size if size is not None else first if isinstance(first, list) else first.shape
        return np.full(shape, value, TYPES.get(dtype, "float32"))

    return make


def _arange(first: float, end: float | None = None, step: float = 1, dtype: Any = None, **_: Any) -> Array:
    start, end = (0, first) if end is None else (first, end)
    is_whole = all(isinstance(number, int) for number in (start, end, step))
    return np.asarray(np.arange(start, end, step), TYPES.get(dtype, "int64" if is_whole else "float32"))


def _split(x: Array, split_size: Any, dim: int = 0) -> list[Array]:
    sizes = split_size if isinstance(split_size, list) else [split_size] * math.ceil(x.shape[dim] / split_size)
    return np.split(x, np.cumsum(sizes)[:-1].tolist(), dim)


_BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "eq": np.equal,
    "ne": np.not_equal, "maximum": np.maximum, "minimum": np.minimum, "matmul": np.matmul,
    "floor_divide": np.floor_divide, "gt": np.greater, "lt": np.less, "fill": lambda x, value: np.full_like(x, value),
    "copy": lambda x, src: np.broadcast_to(src, x.shape),
}  # fmt: skip

_UNARY: dict[str, Callable[..., Any]] = {
    "bitwise_not": np.invert,
    "abs": np.abs, "cos": np.cos, "exp": np.exp, "log": np.log, "neg": np.negative, "sin": np.sin, "sqrt": np.sqrt,
    "relu": lambda x: np.maximum(x, 0), "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sign": np.sign, "log2": np.log2, "square": np.square,
}  # fmt: skip

#: Operations that use only the shape of their first argument, which may be a `Value` (`harness.torch_import.values`).
MAKING = {"full_like", "new_full", "new_ones", "new_zeros", "ones_like", "zeros_like"}

#: Name of a further operation -> function that takes the first argument by position and the others by PyTorch's names.
_OTHERS: dict[str, Callable[..., Any]] = {
    "arange": _arange,
    "batch_norm": _batch_norm,
    "cat": lambda tensors, dim=0: np.concatenate(tensors, dim),
    "full": lambda size, fill_value, **other: _filled(fill_value)(size, **other),
    "full_like": lambda x, fill_value, **other: _filled(fill_value)(x, **other),
    "new_full": lambda x, size, fill_value, **other: _filled(fill_value)(x, size, **other),
    **dict.fromkeys(("new_ones", "ones", "ones_like"), _filled(1.0)),
    **dict.fromkeys(("new_zeros", "zero", "zeros", "zeros_like"), _filled(0.0)),
    "linear": _linear,
    "meshgrid": lambda tensors, indexing="ij": [np.array(a) for a in np.meshgrid(*tensors, indexing=indexing)],
    "stack": lambda tensors, dim=0: np.stack(tensors, dim),
    "chunk": lambda x, chunks, dim=0: _split(x, math.ceil(x.shape[dim] / chunks), dim),
    "clamp": lambda x, min=None, max=None: np.clip(x, min, max),
    "cumsum": lambda x, dim, **_: np.cumsum(x, dim),
    "dropout": lambda x, **_: x,
    "expand": _expand,
    "flatten": lambda x, start_dim=0, end_dim=-1: x.reshape(
        *x.shape[:start_dim], -1, *(x.shape[end_dim % x.ndim + 1 :])
    ),
    "index": _index,
    "masked_fill": lambda x, mask, value: np.where(mask, np.asarray(value, x.dtype), x),
    "mean": lambda x, dim=None, keepdim=False, **_: np.asarray(x.mean(_dims(dim), keepdims=keepdim)),
    "permute": lambda x, dims: x.transpose(dims),
    "repeat": lambda x, repeats: np.tile(x, repeats),
    "select": lambda x, dim, index: x[(slice(None),) * (dim % x.ndim) + (index,)],
    "slice": _slice,
    "split": _split,
    "split_with_sizes": lambda x, split_sizes, dim=0: _split(x, split_sizes, dim),
    "squeeze": lambda x, dim=None: np.squeeze(x, _dims(dim)),
    "sum": lambda x, dim=None, keepdim=False, **_: np.asarray(x.sum(_dims(dim), keepdims=keepdim)),
    "t": lambda x: x.T,
    "transpose": lambda x, dim0, dim1: np.swapaxes(x, dim0, dim1),
    "unbind": lambda x, dim=0: list(np.moveaxis(x, dim, 0)),
    "unsqueeze": lambda x, dim: np.expand_dims(x, dim),
    "var": _var,
    "view": lambda x, size: x.reshape(size),
    "reshape": lambda x, shape: x.reshape(shape),
    **dict.fromkeys(("reshape_as", "view_as"), lambda x, other: x.reshape(other.shape)),
}

#: Names of all operations that `computed` can compute.
ON_CONSTANTS = {*_UNARY, *_BINARY, *_OTHERS}


def computed(name: str, first: Any, others: Mapping[str, Any]) -> Any:
    """Return the result of PyTorch's operation `name` on constants: an array or a list of arrays.

    `first` is the first argument, `others` has all others by name. Raises `UntranslatableError` for an unknown
    operation.
    """
    if name in _OTHERS:
        return _OTHERS[name](first, **others)
    if name in _UNARY:
        return np.asarray(_UNARY[name](first))
    if name in _BINARY:
        (other, *more) = others.values()
        if more and name != "copy":
            raise UntranslatableError("has no translation for constants with further arguments")
        found = np.asarray(_BINARY[name](first, other))
        return found.astype(np.float32) if found.dtype == np.float64 else found
    raise UntranslatableError("has no translation for constants")
