"""Streams of random numbers, a separate stream for every purpose, so that draws for different purposes are independent.

With `default_rng(0)` for two purposes, both would draw the same permutation. `scoring` and `baselines/core` hold
identical copies of this file, because a measure's sandbox contains nothing of `scoring`.
"""

import hashlib
import json

import numpy as np


def stream(purpose: str, *seeds: int | str) -> np.random.Generator:
    """Return the random generator of a purpose.

    Args:
        purpose: name of the draws, unique in the project.
        seeds: distinguish draws for the same purpose; equal seeds give equal draws.
    """
    return np.random.default_rng(_sequence(purpose, *seeds))


def stream_seed(purpose: str, *seeds: int | str) -> int:
    """Return a seed in [0, 2^31) for a library with its own generators; arguments as for `stream`."""
    return int(_sequence(purpose, *seeds).generate_state(1)[0]) >> 1


def _sequence(purpose: str, *seeds: int | str) -> np.random.SeedSequence:
    key = hashlib.sha256(json.dumps([purpose, *seeds]).encode()).digest()
    return np.random.SeedSequence(int.from_bytes(key))
