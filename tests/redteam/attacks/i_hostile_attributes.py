"""Raises an error that only `except BaseException` catches when its attributes are looked at."""

EXPECT = ("EXCEPTION", "CRASH")


class Hostile:
    def __getattr__(self, name):
        raise KeyboardInterrupt


def complexity(model, dataset):
    return Hostile()
