"""Streams of random numbers: one for every purpose, so that no two draws that should be independent are the same.

Two purposes that both began with `default_rng(0)` would draw the same permutation. This file is twice in the project,
the same in `scoring` and `baselines/core`: a measure's sandbox contains nothing of `scoring`.
"""

import hashlib
import json

import numpy as np


def stream(purpose: str, *seeds: int | str) -> np.random.Generator:
    """Return the generator of a purpose.

    Args:
        purpose: what is drawn; no other place in the project has the same.
        seeds: what tells the draws for this purpose apart; the same seeds give the same draws.
    """
    return np.random.default_rng(_sequence(purpose, *seeds))


def stream_seed(purpose: str, *seeds: int | str) -> int:
    """Return a seed in [0, 2^31) for a library with generators of its own; arguments as for `stream`."""
    return int(_sequence(purpose, *seeds).generate_state(1)[0]) >> 1


def _sequence(purpose: str, *seeds: int | str) -> np.random.SeedSequence:
    key = hashlib.sha256(json.dumps([purpose, *seeds]).encode()).digest()
    return np.random.SeedSequence(int.from_bytes(key))
