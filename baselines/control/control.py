"""Random measures, to compare the others with."""

import hashlib

import numpy as np

from baselines.core.measure import Cost, measure
from baselines.core.streams import stream
from baselines.core.subject import Subject


@measure(
    meaning="a random number: what a measure scores that knows nothing",
    formula="U(0, 1)",
    source="control",
    cost=Cost.WEIGHTS,
    work="none",
)
def random(subject: Subject, *, seed: int = -1) -> float:
    """A number between 0 and 1 that depends on nothing but the weights' bytes and a seed.

    Two models differ even under one seed; the same model under the same seed gives the same number.

    Args:
        subject: the network.
        seed: if negative, the seed of the call counts: the state of NumPy's global generator, which stays as it is.
    """
    digest = hashlib.sha256()
    for weights in subject.weights:
        digest.update(np.ascontiguousarray(weights).tobytes())
    if seed < 0:
        state = np.random.get_state(legacy=False)["state"]
        digest.update(np.asarray(state["key"]).tobytes() + int(state["pos"]).to_bytes(8))
    return float(stream("random measure", max(seed, 0), digest.hexdigest()).random())
