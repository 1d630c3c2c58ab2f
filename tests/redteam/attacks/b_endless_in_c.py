"""Calls that never end, in C and in the frameworks' own code."""

import jax
import numpy as np
import tensorflow as tf
import torch
from attack_suite import expected


@expected("TIMEOUT", runtime="jax")
def b_call_in_jax(model, dataset):
    """Stays in a single compiled loop of JAX."""
    return jax.lax.while_loop(lambda number: number > -1.0, lambda number: (number + 1.0) % 1e6, 0.0)


@expected("TIMEOUT")
def b_call_in_numpy(model, dataset):
    """Stays in C code that holds the interpreter. No alarm inside the worker is relied on."""
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
    """Stays in a single TensorFlow operation."""
    return endless(tf.constant(0.0))


@expected("TIMEOUT", runtime="torch")
def b_call_in_torch(model, dataset):
    """Stays in calls of PyTorch, each of many seconds."""
    matrix = torch.eye(8192)
    while True:
        matrix = matrix @ matrix
