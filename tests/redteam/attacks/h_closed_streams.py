"""Closes its own output. The result does not travel there."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    os.close(1)
    os.close(2)
    return 1.0
