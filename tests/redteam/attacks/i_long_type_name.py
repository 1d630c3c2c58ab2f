"""Returns an object whose type has a name of a megabyte, which the message names."""

EXPECT = ("BAD_VALUE",)


def complexity(model, dataset):
    return type("x" * (1 << 20), (), {})()
