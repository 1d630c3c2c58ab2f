"""Nests directories so deep that a careless removal would fail. The scratch space vanishes with its mount."""

import os

EXPECT = ("OK", "TIMEOUT")
UNDER_LANDLOCK = ("OUTPUT",)  # what is too deep to be looked at is too much


def complexity(model, dataset):
    for _ in range(5000):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    return 1.0
