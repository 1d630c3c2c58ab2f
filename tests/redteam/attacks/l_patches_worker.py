"""Replaces functions of the worker, so that it accepts infinities. The harness checks every value again."""

import sys

EXPECT = ("PROTOCOL",)


class Infinite:
    @staticmethod
    def hex():
        return "inf"


sys.modules["harness.worker.main"].as_finite_float = lambda value: Infinite


def complexity(model, dataset):
    return 1.0
