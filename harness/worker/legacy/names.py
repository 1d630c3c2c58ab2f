"""Restores names that measures of 2020 use and that Python and NumPy have removed since.

Each restored name means the same as in Python 3.6 and NumPy 1.19. A name that exists today with another meaning
(`numpy.bool`, `numpy.long`) stays as it is, because libraries use it. Methods of arrays and the old rules of type
promotion cannot be restored.
"""

import collections
import collections.abc
import fractions
import inspect
import math
import os
import sys
import time
import warnings
from types import ModuleType
from typing import Any

import numpy as np

#: Removed name in numpy -> its value.
VALUES: dict[str, Any] = {
    "bool": bool, "complex": complex, "float": float, "int": int, "long": int, "object": object, "str": str,
    "unicode": str,
    "Inf": math.inf, "Infinity": math.inf, "infty": math.inf, "PINF": math.inf, "NINF": -math.inf,
    "NAN": math.nan, "NaN": math.nan, "NZERO": -0.0, "PZERO": 0.0,
    "math": math, "os": os, "sys": sys, "warnings": warnings,
    "sctypes": {
        "int": [np.int8, np.int16, np.int32, np.int64], "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "complex": [np.complex64, np.complex128, np.clongdouble], "others": [bool, object, bytes, str, np.void],
    },
    "typeDict": {code: np.dtype(code).type for code in np.typecodes["All"]} | np.sctypeDict,
}  # fmt: skip

#: Old name in numpy -> today's name.
RENAMED = {
    "bool8": "bool_", "bytes0": "bytes_", "cfloat": "complex128", "clongfloat": "clongdouble", "complex_": "complex128",
    "float_": "float64", "int0": "intp", "longcomplex": "clongdouble", "longfloat": "longdouble", "object0": "object_",
    "singlecomplex": "complex64", "str0": "str_", "string_": "bytes_", "uint0": "uintp", "unicode_": "str_",
    "void0": "void",
    "alltrue": "all", "cumproduct": "cumprod", "mat": "asmatrix", "product": "prod", "round_": "round",
    "row_stack": "vstack", "sometrue": "any", "trapz": "trapezoid",
}  # fmt: skip

#: Names that were moved from numpy to numpy.exceptions.
EXCEPTIONS = (
    "AxisError", "ComplexWarning", "ModuleDeprecationWarning", "RankWarning", "TooHardError",
    "VisibleDeprecationWarning",
)  # fmt: skip

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def restore_names() -> None:
    """Add the missing names of `restored_names` to their modules, in this process."""
    modules: tuple[ModuleType, ...] = (np, collections, inspect, time, fractions)
    for module in modules:
        for name, value in restored_names()[module.__name__].items():
            if name not in vars(module):
                setattr(module, name, value)


def restored_names() -> dict[str, dict[str, Any]]:
    """Return module -> name -> object with the meaning that this name had in 2020."""
    renamed = {name: getattr(np, today) for name, today in RENAMED.items() if hasattr(np, today)}
    exceptions = {name: getattr(np.exceptions, name) for name in EXCEPTIONS}
    functions = {function.__name__: function for function in (alen, asfarray, asscalar, in1d, msort, obj2sctype)}
    abstract = (name for name in collections.abc.__all__ if name != "Buffer")
    return {
        "numpy": VALUES | renamed | exceptions | functions,
        "collections": {name: getattr(collections.abc, name) for name in abstract},
        "inspect": {"ArgSpec": ArgSpec, "getargspec": getargspec},
        "time": {"clock": time.process_time},
        "fractions": {"gcd": gcd},
    }


def alen(a: Any) -> int:
    """Return the length of the first axis; 1 for a scalar."""
    try:
        return len(a)
    except TypeError:
        return 1


def asfarray(a: Any, dtype: Any = np.float64) -> Any:
    """Return an array of floating-point numbers: of type `dtype`, or float64 if `dtype` is no floating-point type."""
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def asscalar(a: Any) -> Any:
    """Return the only element of an array as a Python number."""
    return a.item()


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Return whether each element of the flattened `ar1` is in `ar2`."""
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def msort(a: Any) -> Any:
    """Return a copy sorted along the first axis."""
    return np.sort(np.array(a, subok=True), axis=0)


def obj2sctype(rep: Any, default: Any = None) -> Any:
    """Return the scalar type of an array, a type or the name of a type; `default` if it has no scalar type."""
    try:
        return np.dtype(getattr(rep, "dtype", rep) if isinstance(rep, np.ndarray) else rep).type
    except TypeError:
        return default


def getargspec(func: Any) -> ArgSpec:
    """Return the parameters of a function. Raise `ValueError` if it has annotations or keyword-only parameters."""
    found = inspect.getfullargspec(func)
    if found.kwonlyargs or found.annotations:
        raise ValueError("getargspec knows no annotations and no keyword-only parameters, use getfullargspec")
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def gcd(a: Any, b: Any) -> Any:
    """Return the greatest common divisor. It has the sign of `b`, unless `b` is 0."""
    while b:
        a, b = b, a % b
    return a
