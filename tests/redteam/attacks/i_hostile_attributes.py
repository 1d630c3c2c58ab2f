"""Returns an object that raises an error, caught only by `except BaseException`, on access to its attributes."""

EXPECT = ("EXCEPTION", "CRASH")


class Hostile:
    def __getattr__(self, name):
        raise KeyboardInterrupt


def complexity(model, dataset):
    return Hostile()
