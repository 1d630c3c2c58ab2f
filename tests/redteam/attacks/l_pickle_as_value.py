"""Returns an object that runs a command when it is unpickled. Nothing is pickled."""

import os

import numpy as np

EXPECT = ("BAD_VALUE",)


class Bomb:
    def __reduce__(self):
        return os.system, ("echo BREACH: unpickled",)


def complexity(model, dataset):
    return np.array([Bomb()], dtype=object)
