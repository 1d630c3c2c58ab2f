"""Returns a float whose own text is not a number: the harness reads a plain float's."""

EXPECT = ("OK",)
VALUE = 2.0


class Odd(float):
    def __float__(self):
        return 2.0

    def hex(self):
        return "inf"


def complexity(model, dataset):
    return Odd(1.0)
