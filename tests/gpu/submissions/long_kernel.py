"""Allocates a fifth of the GPU's memory, then runs a kernel that does not end."""

import sys

import cuda_driver


def complexity(model, dataset):
    cuda_driver.begin()
    size = cuda_driver.memory()[0] // 5
    cuda_driver.fill(cuda_driver.allocate(size), size, 0)
    print(f"{size / 2**20:.0f} MiB taken", flush=True)
    if "torch" in sys.modules:
        import torch

        torch.cuda._sleep(1 << 62)  # cycles, in one kernel
        torch.cuda.synchronize()
    else:
        import jax
        import jax.numpy as jnp

        endless = jax.jit(lambda x: jax.lax.while_loop(lambda y: jnp.all(y < 2), lambda y: jnp.tanh(y @ y), x))
        endless(jnp.full((4096, 4096), 1e-4, jnp.float32)).block_until_ready()
    return 0.0
