"""The value is the number of GPUs that can be opened, as device nodes or with CUDA, whichever is larger."""

import os
from pathlib import Path

import cuda_driver


def complexity(model, dataset):
    opened = []
    for number in range(32):
        try:
            os.close(os.open(f"/dev/nvidia{number}", os.O_RDWR))
            opened.append(number)
        except OSError:
            pass
    cuda_driver.begin()
    print("nodes:", sorted(path.name for path in Path("/dev").glob("nvidia*")), "opened:", opened)
    return float(max(len(opened), cuda_driver.count()))
