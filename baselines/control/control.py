"""Measures that know nothing, to compare others with."""

import hashlib

import numpy as np

from baselines.core.measure import measure
from baselines.core.subject import Subject


@measure(
    meaning="a random number: what a measure scores that knows nothing",
    formula="U(0, 1)",
    source="control",
    cost="none",
)
def random(subject: Subject) -> float:
    """A number between 0 and 1 that depends on nothing but the weights' bytes and the state of NumPy's seed.

    Two models differ even under one seed; the same model under the same seed gives the same number.
    """
    digest = hashlib.sha256()
    for weights in subject.model.get_weights():
        digest.update(np.ascontiguousarray(weights).tobytes())
    seed = [int(np.random.randint(2**31)), int.from_bytes(digest.digest())]
    return float(np.random.default_rng(seed).random())
