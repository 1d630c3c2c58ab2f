"""Claims to be a float and is none; its conversion gives infinity."""

EXPECT = ("BAD_VALUE", "EXCEPTION")


class Liar:
    @property
    def __class__(self):
        return float

    def __float__(self):
        return float("inf")


def complexity(model, dataset):
    return Liar()
