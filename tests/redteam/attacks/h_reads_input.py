"""Waits for input, as from a terminal. Standard input is empty."""

import sys

EXPECT = ("OK",)


def complexity(model, dataset):
    if sys.stdin.read(1) or sys.__stdin__.isatty():
        print("BREACH: there is input")
    return 1.0
