"""Values that are no finite numbers, and errors."""

import jax
import numpy as np
import tensorflow as tf
import torch

from attack_suite import expected


@expected("BAD_VALUE")
def i_array(model, dataset):
    """Returns an array of one element, which `float` would take."""
    return np.ones(1)


@expected("BAD_VALUE")
def i_boolean(model, dataset):
    """Returns a bool, which is an int."""
    return True


@expected("BAD_VALUE")
def i_complex(model, dataset):
    """Returns a complex number with no imaginary part."""
    return np.complex128(1)


@expected("EXCEPTION", "TIMEOUT")
def i_error_chain(model, dataset):
    """Raises an error that is its own cause, and a group of groups that would print as 2**50 lines."""
    error = ValueError("leaf")
    for _ in range(50):
        error = ExceptionGroup("group", [error, error])
    error.__cause__ = error
    raise error


@expected("EXCEPTION")
def i_error_in_emoji(model, dataset):
    """Raises an error whose 500 characters take more bytes than a frame may have."""
    raise ValueError("\N{GRINNING FACE}" * 1000)


@expected("EXCEPTION")
def i_error_of_megabytes(model, dataset):
    """Raises an error with a message of ten megabytes. Messages are cut."""
    raise ValueError("x" * (10 << 20))


class ExitingError(Exception):
    def __str__(self):
        raise SystemExit(0)


@expected("EXCEPTION", "CRASH")
def i_error_that_exits(model, dataset):
    """Raises an error whose message leaves the interpreter."""
    raise ExitingError


class RaisingError(Exception):
    def __str__(self):
        raise ValueError("no message")

    __repr__ = __str__


@expected("EXCEPTION")
def i_error_that_raises(model, dataset):
    """Raises an error whose message and representation raise errors themselves."""
    raise RaisingError


class Liar:
    @property
    def __class__(self):
        return float

    def __float__(self):
        return float("inf")


@expected("BAD_VALUE", "EXCEPTION")
def i_false_class(model, dataset):
    """Claims to be a float and is none; its conversion gives infinity."""
    return Liar()


class Odd(float):
    def __float__(self):
        return 2.0

    def hex(self):
        return "inf"


@expected("OK", value=2.0)
def i_false_hex(model, dataset):
    """Returns a float whose own text is not a number: the harness reads a plain float's."""
    return Odd(1.0)


@expected("BAD_VALUE")
def i_generator(model, dataset):
    """Is a generator: nothing of it runs when it is called."""
    yield 1.0


class Hostile:
    def __getattr__(self, name):
        raise KeyboardInterrupt


@expected("EXCEPTION", "CRASH")
def i_hostile_attributes(model, dataset):
    """Returns an object that raises an error, caught only by `except BaseException`, on access to its attributes."""
    return Hostile()


@expected("BAD_VALUE")
def i_huge_integer(model, dataset):
    """Returns an integer that no float can hold."""
    return 10**400


@expected("BAD_VALUE", runtime="tensorflow")
def i_infinite(model, dataset):
    """Returns minus infinity as a tensor, which would rank before everything."""
    return tf.constant(float("-inf"))


@expected("BAD_VALUE", runtime="torch")
def i_infinite_of_torch(model, dataset):
    """Returns infinity as a tensor of PyTorch that requires gradients."""
    return torch.tensor(1.0, requires_grad=True) / 0.0


@expected("BAD_VALUE")
def i_long_type_name(model, dataset):
    """Returns an object whose type has a name of a megabyte, which the message names."""
    return type("x" * (1 << 20), (), {})()


@expected("BAD_VALUE")
def i_not_a_number(model, dataset):
    """Returns NaN from a NumPy scalar. Only finite numbers are values."""
    return np.float32("nan")


@expected("EXCEPTION")
def i_recursion(model, dataset):
    """Recurses without end."""
    return i_recursion(model, dataset)


@expected("BAD_VALUE", "EXCEPTION")
def i_symbolic_tensor(model, dataset):
    """Returns the model's symbolic output, which has no value."""
    return model.outputs[0]


@expected("EXCEPTION", runtime="jax")
def i_traced_of_jax(model, dataset):
    """Returns a value of JAX that exists only while a function is traced."""
    leaked = []
    jax.jit(lambda number: leaked.append(number) or number)(1.0)
    return leaked[0]
