"""The resource limits of one call."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from harness.configuration import GIB, MIB
from harness.machine_memory import usable_memory


@dataclass(frozen=True)
class Limits:
    """Limits of one call, all enforced from outside the process that they apply to.

    The user chooses `memory_bytes` (and the time limit, which a `Clock` keeps); the others are fixed.
    """

    memory_bytes: int = 4 * GIB
    #: Seconds for the start and the imports, and again for loading the model and the data, before the clock starts.
    startup_s: float = 120.0
    #: Processes and threads; TensorFlow starts a few per core.
    processes: int = 128 + 4 * (os.cpu_count() or 1)
    open_files: int = 1024
    file_bytes: int = 256 * MIB
    scratch_bytes: int = 256 * MIB
    shared_memory_bytes: int = 64 * MIB
    #: Files in scratch space and /dev/shm together; each takes about 1 KiB of kernel memory.
    scratch_files: int = 20_000
    #: Sockets; a full queue takes up to 416 KiB of kernel memory.
    sockets: int = 512
    #: More output than this ends the call.
    output_bytes: int = 64 * MIB


def default_memory_bytes(gpus: int, warn: Callable[[str], object] = lambda _: None) -> int:
    """Return 4 GiB for a call on a CPU, 16 GiB with a GPU, at most 60 % of the memory; a multiple of 256 MiB.

    `warn` receives a line where that is less.
    """
    wanted, memory = (16 if gpus else 4) * GIB, usable_memory()
    limit = max(min(wanted, int(memory.total * 0.6)) // (256 * MIB), 1) * 256 * MIB
    if limit < wanted:
        of = f"at most 60 % of {memory.whose} {memory.total / GIB:.1f}G"
        warn(f"the memory limit of a call is {limit / MIB:.0f}M, {of}; --memory sets another limit")
    return limit
