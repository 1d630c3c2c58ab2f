"""Overflows the stack in C."""

import sys

EXPECT = ("CRASH", "EXCEPTION")


class Deep:
    def __repr__(self):
        return repr([self])


def complexity(model, dataset):
    sys.setrecursionlimit(10**9)
    return float(repr(Deep()))
