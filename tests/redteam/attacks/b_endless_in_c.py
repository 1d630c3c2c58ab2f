"""Calls that never end, in C code and in the frameworks' own code."""

import jax
import numpy as np
import tensorflow as tf
import torch
from attack_suite import expected


@expected("TIMEOUT", runtime="jax")
def b_call_in_jax(model, dataset):
    """Runs one compiled loop of JAX for ever."""
    return jax.lax.while_loop(lambda number: number > -1.0, lambda number: (number + 1.0) % 1e6, 0.0)


@expected("TIMEOUT")
def b_call_in_numpy(model, dataset):
    """Stays in C code that never releases the interpreter. The harness kills it from outside."""
    a = np.random.default_rng(0).normal(size=(2500, 2500))
    while True:
        a = np.linalg.svd(a)[0]


@tf.function
def endless(number):
    while number > -1.0:
        number = (number + 1.0) % 1e6
    return number


@expected("TIMEOUT", runtime="tensorflow")
def b_call_in_tensorflow(model, dataset):
    """Runs one TensorFlow operation that does not end."""
    return endless(tf.constant(0.0))


@expected("TIMEOUT", runtime="torch")
def b_call_in_torch(model, dataset):
    """Makes calls of PyTorch that take many seconds each."""
    matrix = torch.eye(8192)
    while True:
        matrix = matrix @ matrix
