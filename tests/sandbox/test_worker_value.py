"""Tests of the value of a measure: it must be a finite real number."""

import math
import re
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from harness.worker.value import BadValueError, as_finite_float


class Tensor:
    """The needed part of an eager tensor: a shape, and `numpy()`, which returns a NumPy scalar for a scalar."""

    def __init__(self, value: Any, dtype: Any = np.float32) -> None:
        self._value = np.asarray(value, dtype)
        self.shape = self._value.shape

    def numpy(self) -> Any:
        return self._value[()]


class Changing(float):
    """A float whose conversion gives another value."""

    def __float__(self) -> float:
        return math.nan


class Refusing(float):
    def __float__(self) -> float:
        raise RuntimeError("no")


class FloatLike:
    """An object that can be converted to a float, but is no number."""

    def __float__(self) -> float:
        return 1.0


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        (1, 1.0), (-0.0, -0.0), (2**53 + 1, float(2**53)), (10**308, 1e308), (5e-324, 5e-324),
        (np.float16(0.1), 0.0999755859375), (np.float32(0.1), 0.10000000149011612), (np.float64(0.1), 0.1),
        (np.longdouble("0.5"), 0.5), (np.int8(-3), -3.0), (np.uint64(2**64 - 1), 2.0**64), (np.array(2.5), 2.5),
        (np.array(7), 7.0), (np.ma.array(1.5), 1.5), (Tensor(0.1), 0.10000000149011612), (Tensor(3, np.int32), 3.0),
    ],
)  # fmt: skip
def test_real_numbers_of_every_kind(returned: Any, value: float) -> None:
    found = as_finite_float(returned)
    assert type(found) is float
    assert found.hex() == value.hex()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_comes_through_bit_for_bit(value: float) -> None:
    assert as_finite_float(value).hex() == as_finite_float(np.float64(value)).hex() == value.hex()


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        (True, "bool"), (np.bool_(True), "bool"), (np.array(True), "bool"), (Tensor(True, np.bool_), "bool"),
        ("1.0", "str"), (b"1.0", "bytes"), (1 + 0j, "complex"), (np.complex64(1), "complex64"),
        ([1.0], "list; return one of its numbers"), ((1.0,), "tuple; return one of its numbers"),
        ({"score": 1.0}, "dict; return one of its numbers"), (Decimal("1.0"), "Decimal"),
        (Fraction(1, 2), "Fraction"),
        (np.array([1.0]), "an array (ndarray) of shape (1,); if it is x, return float(x[0])"),
        (np.array([[1.0]]), "an array (ndarray) of shape (1, 1); if it is x, return float(x[0, 0])"),
        (np.array([[1.0, 2.0]]), "an array (ndarray) of shape (1, 2)"),
        (np.array([]), "an array (ndarray) of shape (0,)"),
        (None, "NoneType: is a `return` missing in complexity()?"), (np.array("1.0"), "str_"),
        (np.datetime64("2020-01-01"), "datetime64"), (np.timedelta64(5), "timedelta64"),
        (np.timedelta64(5, "s"), "timedelta64"), (np.ma.masked, "MaskedConstant"),
        (Tensor([1.0]), "a tensor (Tensor) of shape (1,); if it is x, return float(x[0])"),
        (SimpleNamespace(shape=(None, 3)), "SimpleNamespace"), (SimpleNamespace(shape=3), "SimpleNamespace"),
        (FloatLike(), "FloatLike"), (float, "type"), (lambda: 1.0, "function"),
    ],
)  # fmt: skip
def test_anything_else_is_named(returned: Any, found: str) -> None:
    with pytest.raises(BadValueError, match=f"^expected a real number, found {re.escape(found)}$"):
        as_finite_float(returned)


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        (math.nan, "finite number, found nan"), (math.inf, "finite number, found inf"),
        (-math.inf, "finite number, found -inf"), (np.float32("inf"), "finite number, found inf"),
        (np.array(np.nan), "finite number, found nan"), (Tensor(np.nan), "finite number, found nan"),
        (np.longdouble("1e400"), "finite number, found inf"), (Changing(1.0), "finite number, found nan"),
        (10**400, "found a larger integer"), (-(10**400), "found a larger integer"),
        (np.array(10**400, dtype=object), "found a larger integer"),
    ],
)  # fmt: skip
def test_numbers_that_are_not_finite(returned: Any, found: str) -> None:
    with pytest.raises(BadValueError, match=f"^expected a .*{found}$"):
        as_finite_float(returned)


def test_a_number_that_refuses_to_be_one_fails_with_its_own_error() -> None:
    with pytest.raises(RuntimeError, match=r"^no$"):
        as_finite_float(Refusing(1.0))
