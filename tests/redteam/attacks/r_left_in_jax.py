"""Leaves marks in JAX and Keras, and looks for those of an earlier call."""

import os

import jax
import keras

RUNTIME = "jax"
EXPECT = ("OK",)
TWICE = True


def complexity(model, dataset):
    for holder in (jax, jax.numpy, keras, keras.layers.Dense, type(model), type(dataset)):
        if "mark" in vars(holder):
            print(f"BREACH: a mark in {holder}")
        holder.mark = True
    if jax.config.jax_enable_x64 or jax.config.jax_compilation_cache_dir:
        print("BREACH: a setting of an earlier call")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_compilation_cache_dir", os.environ["HOME"])
    return float(jax.jit(lambda x: x + 1.0)(0.0))
