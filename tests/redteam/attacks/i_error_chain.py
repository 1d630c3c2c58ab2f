"""Raises an error that is its own cause, and a group of groups that would print as 2**50 lines."""

EXPECT = ("EXCEPTION", "TIMEOUT")


def complexity(model, dataset):
    error = ValueError("leaf")
    for _ in range(50):
        error = ExceptionGroup("group", [error, error])
    error.__cause__ = error
    raise error
