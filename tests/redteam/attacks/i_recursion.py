"""Recurses without end."""

EXPECT = ("EXCEPTION",)


def complexity(model, dataset):
    return complexity(model, dataset)
