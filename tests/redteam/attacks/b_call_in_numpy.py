"""Stays in C code that holds the interpreter. No alarm inside the worker is relied on."""

import numpy as np

EXPECT = ("TIMEOUT",)


def complexity(model, dataset):
    a = np.random.default_rng(0).normal(size=(2500, 2500))
    while True:
        a = np.linalg.svd(a)[0]
