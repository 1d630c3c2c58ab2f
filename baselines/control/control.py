"""Random measures, to compare the others with."""

import hashlib

import numpy as np

from baselines.core.measure import measure
from baselines.core.streams import stream
from baselines.core.subject import Subject


@measure()
def random(subject: Subject, *, seed: int = -1) -> float:
    """A random number: what a measure scores that knows nothing.

    Formula: U(0, 1). Source: control. Draws: by input.

    A number between 0 and 1 that depends on nothing but the weights' bytes and a seed. Two models differ even under one
    seed; the same model under the same seed gives the same number.
    """
    digest = hashlib.sha256()
    for weights in subject.weights:
        digest.update(np.ascontiguousarray(weights).tobytes())
    if seed < 0:
        state = np.random.get_state(legacy=False)["state"]
        digest.update(np.asarray(state["key"]).tobytes() + int(state["pos"]).to_bytes(8))
    return float(stream("random measure", max(seed, 0), digest.hexdigest()).random())
