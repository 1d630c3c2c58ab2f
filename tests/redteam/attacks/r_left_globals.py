"""Leaves marks in modules, the environment and the interpreter, and looks for those of an earlier call."""

import builtins
import os

import numpy as np
import tensorflow as tf

RUNTIME = "tensorflow"
EXPECT = ("OK",)
TWICE = True


def complexity(model, dataset):
    for holder in (builtins, os, np, tf, tf.keras.layers.Dense, type(model)):
        if hasattr(holder, "mark"):
            print(f"BREACH: a mark in {holder}")
        holder.mark = True
    if "MARK" in os.environ:
        print("BREACH: a mark in the environment")
    os.environ["MARK"] = "1"
    return 1.0
