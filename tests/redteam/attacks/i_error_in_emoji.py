"""Raises an error whose 500 characters take more bytes than a frame may have."""

EXPECT = ("EXCEPTION",)


def complexity(model, dataset):
    raise ValueError("\N{GRINNING FACE}" * 1000)
