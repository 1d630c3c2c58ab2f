"""SciPy: linear algebra, statistics and an optimiser."""

import numpy as np
from scipy import linalg, optimize, stats

EXPECT = ("OK",)
VALUE = 6.0


def complexity(model, dataset):
    minimum = optimize.minimize(lambda x: float((x[0] - 3) ** 2), np.zeros(1)).x[0]
    return round(float(linalg.norm([3.0]) + minimum * stats.kendalltau([1, 2, 3], [1, 2, 3])[0]), 3)
