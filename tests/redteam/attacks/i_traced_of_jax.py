"""Returns a value of JAX that exists only while a function is traced."""

import jax

RUNTIME = "jax"
EXPECT = ("EXCEPTION",)


def complexity(model, dataset):
    leaked = []
    jax.jit(lambda number: leaked.append(number) or number)(1.0)
    return leaked[0]
