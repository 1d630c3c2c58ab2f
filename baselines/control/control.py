"""A random measure, whose score shows the level of chance."""

import hashlib

import numpy as np

from baselines.core.measure import measure
from baselines.core.streams import stream
from baselines.core.subject import Subject


@measure()
def random(subject: Subject, *, seed: int = -1) -> float:
    """A random number, independent of generalization.

    Formula: U(0, 1), a uniform random number. Source: control. Draws: depend on the order of input dimensions.

    The number depends only on the bytes of the weights and on the seed, so different networks get different numbers.
    """
    digest = hashlib.sha256()
    for weights in subject.weights:
        digest.update(np.ascontiguousarray(weights).tobytes())
    if seed < 0:
        state = np.random.get_state(legacy=False)["state"]
        digest.update(np.asarray(state["key"]).tobytes() + int(state["pos"]).to_bytes(8))
    return float(stream("random measure", max(seed, 0), digest.hexdigest()).random())
