"""Hoards tensors of PyTorch, which Python's allocator knows nothing of."""

import torch

RUNTIME = "torch"
EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow


def complexity(model, dataset):
    hoard = []
    for number in range(512):
        hoard.append(torch.ones(1 << 20) * number)
    print("BREACH: 2 GiB")
    return 0.0
