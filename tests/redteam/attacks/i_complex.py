"""Returns a complex number with no imaginary part."""

import numpy as np

EXPECT = ("BAD_VALUE",)


def complexity(model, dataset):
    return np.complex128(1)
