"""What one call may use."""

import os
from dataclasses import dataclass

import psutil

MIB = 1024**2
GIB = 1024**3


@dataclass(frozen=True)
class Limits:
    """Limits of one call; all are enforced from outside the process that they bind.

    `memory_bytes` is the user's (as is the time, which a `Clock` keeps); the others are fixed parts of the sandbox.
    """

    memory_bytes: int = 4 * GIB
    #: Seconds for everything before the clock: start, imports, loading of the model and the data.
    startup_s: float = 120.0
    #: Processes and threads; TensorFlow starts a few per core.
    processes: int = 128 + 4 * (os.cpu_count() or 1)
    open_files: int = 1024
    file_bytes: int = 256 * MIB
    scratch_bytes: int = 256 * MIB
    shared_memory_bytes: int = 64 * MIB
    #: Files in both kinds of scratch space; each takes about a KiB of the kernel's memory.
    scratch_files: int = 20_000
    #: Sockets; a full queue takes up to 416 KiB of the kernel's memory.
    sockets: int = 512
    #: Output beyond this ends the call.
    output_bytes: int = 64 * MIB


def default_memory_bytes(gpus: int) -> int:
    """4 GiB for a call on a CPU, 16 GiB beside a GPU, and never over 60 % of the machine; in whole 256 MiB."""
    wanted = (16 if gpus else 4) * GIB
    available = int(psutil.virtual_memory().total * 0.6)
    return max(min(wanted, available) // (256 * MIB), 1) * 256 * MIB
