"""Reads address 0."""

import ctypes

EXPECT = ("CRASH",)


def complexity(model, dataset):
    return float(ctypes.c_int.from_address(0).value)
