"""Hoards arrays of JAX, which Python's allocator knows nothing of."""

import jax.numpy as jnp

RUNTIME = "jax"
EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow


def complexity(model, dataset):
    hoard = []
    for number in range(512):
        hoard.append((jnp.ones(1 << 20) * number).block_until_ready())
    print("BREACH: 2 GiB")
    return 0.0
