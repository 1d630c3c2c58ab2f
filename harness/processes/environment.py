"""The environment of a process that runs models: its framework, its cores, and the GPUs that it may see."""

import os

from harness.worker.runtimes import Runtime


def environment(runtime: Runtime, threads: int, gpu: bool | str) -> dict[str, str]:
    """Return the environment variables of a process.

    Args:
        runtime: the framework.
        threads: cores to use.
        gpu: `False` hides every GPU, a UUID all but that one; `True` shows what this process sees.
    """
    seen = {} if gpu is True else {"CUDA_VISIBLE_DEVICES": gpu or "-1"}
    return os.environ | {"OMP_NUM_THREADS": str(threads)} | runtime.environment(threads, gpu=bool(gpu)) | seen
