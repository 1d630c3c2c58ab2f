"""Runs a small call; the value is the GPU memory in use, in MiB. Prints the reserved address space."""

from pathlib import Path

import cuda_driver
import numpy as np


def complexity(model, dataset):
    model(np.ones((4, 3), np.float32))
    cuda_driver.begin()
    free, total = cuda_driver.memory()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    print(f"{pages * 4096 / 2**30:.1f} GiB of address space; {total / 2**20:.0f} MiB of GPU memory")
    return (total - free) / 2**20
