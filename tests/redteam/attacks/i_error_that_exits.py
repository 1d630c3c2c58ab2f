"""Raises an error whose message leaves the interpreter."""

EXPECT = ("EXCEPTION", "CRASH")


class ExitingError(Exception):
    def __str__(self):
        raise SystemExit(0)


def complexity(model, dataset):
    raise ExitingError
