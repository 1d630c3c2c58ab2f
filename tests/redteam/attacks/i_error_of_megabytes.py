"""Raises an error with a message of ten megabytes. Messages are cut."""

EXPECT = ("EXCEPTION",)


def complexity(model, dataset):
    raise ValueError("x" * (10 << 20))
