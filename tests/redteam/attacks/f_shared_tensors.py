"""Hoards tensors in shared memory, as PyTorch does for its worker processes: files in /dev/shm, of bounded size."""

import torch

RUNTIME = "torch"
EXPECT = ("EXCEPTION", "CRASH", "MEMORY", "OUTPUT", "FORBIDDEN")  # a full /dev/shm is SIGBUS on the first touch


def complexity(model, dataset):
    hoard = []
    for number in range(64):
        hoard.append(torch.full((1 << 22,), float(number)).share_memory_())
    print("BREACH: 1 GiB of shared memory")
    return 0.0
