"""Prints without end. What is kept is bounded, and too much ends the call."""

EXPECT = ("OUTPUT",)


def complexity(model, dataset):
    while True:
        print("x" * 65536)
