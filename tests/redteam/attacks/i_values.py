"""Values that are no finite numbers, and errors."""

import jax
import numpy as np
import tensorflow as tf
import torch
from attack_suite import expected
from tools import fail


@expected("EXCEPTION", "TIMEOUT")
def i_error_chain(model, dataset):
    """Raises an error that is its own cause, and a group of groups that would print as 2**50 lines."""
    error = ValueError("leaf")
    for _ in range(50):
        error = ExceptionGroup("group", [error, error])
    error.__cause__ = error
    raise error


class ExitingError(Exception):
    def __str__(self):
        raise SystemExit(0)


class RaisingError(Exception):
    def __str__(self):
        raise ValueError("no message")

    __repr__ = __str__


class Liar:
    @property
    def __class__(self):
        return float

    def __float__(self):
        return float("inf")


class Odd(float):
    def __float__(self):
        return 2.0

    def hex(self):
        return "inf"


@expected("BAD_VALUE")
def i_generator(model, dataset):
    """Is a generator, so a call runs none of its code."""
    yield 1.0


class Hostile:
    def __getattr__(self, name):
        raise KeyboardInterrupt


@expected("EXCEPTION")
def i_recursion(model, dataset):
    """Recurses without end."""
    return i_recursion(model, dataset)


@expected("EXCEPTION", runtime="jax")
def i_traced_of_jax(model, dataset):
    """Returns a value of JAX that exists only while a function is traced."""
    leaked = []
    jax.jit(lambda number: leaked.append(number) or number)(1.0)
    return leaked[0]


@expected("BAD_VALUE", "EXCEPTION")
def i_symbolic_tensor(model, dataset):
    """Returns the model's symbolic output, which has no value."""
    return model.outputs[0]


#: Name, outcomes, action, and reason.
ROWS = [
    ("i_array", "BAD_VALUE", np.ones(1), "Returns an array of one element, which `float` would take."),
    ("i_boolean", "BAD_VALUE", True, "Returns a bool, which is an int."),
    ("i_complex", "BAD_VALUE", np.complex128(1), "Returns a complex number with no imaginary part."),
    ("i_error_in_emoji", "EXCEPTION", fail(ValueError("\N{GRINNING FACE}" * 1000)),
     "Raises an error whose 500 characters take more bytes than a frame may have."),
    ("i_error_of_megabytes", "EXCEPTION", fail(ValueError("x" * (10 << 20))),
     "Raises an error with a message of ten megabytes. Messages are cut."),
    ("i_error_that_exits", ("EXCEPTION", "CRASH"), fail(ExitingError),
     "Raises an error whose message leaves the interpreter."),
    ("i_error_that_raises", "EXCEPTION", fail(RaisingError),
     "Raises an error whose message and representation raise errors themselves."),
    ("i_false_class", ("BAD_VALUE", "EXCEPTION"), Liar(),
     "Claims to be a float and is none; its conversion gives infinity."),
    ("i_false_hex", expected("OK", value=2.0), Odd(1.0),
     "Returns a float whose method `hex` says infinity. The harness converts it to a plain float first."),
    ("i_hostile_attributes", ("EXCEPTION", "CRASH"), Hostile(),
     "Returns an object that raises an error, caught only by `except BaseException`, on access to its attributes."),
    ("i_huge_integer", "BAD_VALUE", 10**400, "Returns an integer that no float can hold."),
    ("i_infinite", expected("BAD_VALUE", runtime="tensorflow"), tf.constant(float("-inf")),
     "Returns a tensor of minus infinity, which would rank before all numbers."),
    ("i_infinite_of_torch", expected("BAD_VALUE", runtime="torch"), torch.tensor(1.0, requires_grad=True) / 0.0,
     "Returns infinity as a tensor of PyTorch that requires gradients."),
    ("i_long_type_name", "BAD_VALUE", type("x" * (1 << 20), (), {})(),
     "Returns an object whose type has a name of a megabyte, which the message names."),
    ("i_not_a_number", "BAD_VALUE", np.float32("nan"),
     "Returns NaN from a NumPy scalar. Only finite numbers are values."),
]  # fmt: skip
