"""Python, NumPy and the framework draw other numbers under the same seed of a call."""

import json
from itertools import combinations

import numpy as np
import pytest
from each_runtime import each, run

#: Five standard deviations of the correlation of 2000 independent pairs.
INDEPENDENT = 5 / 2000**0.5


@pytest.mark.rest
@each
def test_no_two_libraries_draw_the_same(name: str) -> None:
    drawn = json.loads(run(name, "draws"))
    assert {library: len(numbers) for library, numbers in drawn.items()} == dict.fromkeys(drawn, 2000)
    assert set(drawn) >= {"python", "numpy", "keras"}
    for one, other in combinations(drawn.values(), 2):
        assert abs(np.corrcoef(one, other)[0, 1]) < INDEPENDENT
