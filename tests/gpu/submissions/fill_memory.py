"""Fills most of the GPU's memory with a pattern and ends without freeing it; the value is the filled size in bytes."""

import cuda_driver

PATTERN = 0x5A17C0DE


def complexity(model, dataset):
    cuda_driver.begin()
    address, size = cuda_driver.allocate_most()
    cuda_driver.fill(address, size, PATTERN)
    return float(size)
