"""Exits with status 0, as if all were well. Without a result that is a crash."""

import os

EXPECT = ("CRASH",)


def complexity(model, dataset):
    os._exit(0)
