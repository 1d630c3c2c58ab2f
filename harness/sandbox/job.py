"""The inputs of a call, its resource limits, and the start of its worker."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.children import own_libraries
from harness.configuration import GIB, MIB
from harness.cores import THREADS
from harness.gpus import Gpu
from harness.machine_memory import usable_memory
from harness.sandbox.devices import search_path
from harness.worker.runtimes import DEFAULT, RUNTIMES

#: Program of the worker's interpreter. Its arguments are the runtime and `Job.directories`; its standard input is the
#: control channel. The worker's own directory is removed from `sys.path` after the import.
BOOTSTRAP = (
    "import sys; from pathlib import Path; runtime, trusted, *job = sys.argv[1:]; "
    "sys.path.insert(0, trusted); from harness.worker.main import main; "
    "sys.path.pop(0); main(runtime, *map(Path, job))"
)


@dataclass(frozen=True)
class Job:
    """The inputs and settings of one call. Every directory is a copy with a random name."""

    worker: Path  #: contains the package `harness.worker`
    submission: Path  #: contains complexity.py
    model: Path  #: architecture.json, weights.npz, initial_weights.npz
    data: Path  #: inputs.npy, labels.npy
    runtime: str = DEFAULT  #: name of the framework's runtime
    threads: int = 1  #: cores that the framework may use
    gpu: Gpu | None = None  #: the only GPU visible to the call

    @property
    def directories(self) -> tuple[Path, ...]:
        """The four directories, in the order of the worker's arguments."""
        return self.worker, self.submission, self.model, self.data

    def environment(self, home: str) -> dict[str, str]:
        """Return all environment variables of the worker; `home` is its home directory."""
        libraries = [*own_libraries(), *map(str, [] if self.gpu is None else search_path())]
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": home,
            "USER": "nobody",
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            **dict.fromkeys(THREADS, str(self.threads)),
            "CUDA_CACHE_PATH": home,
            "HDF5_USE_FILE_LOCKING": "FALSE",  # the sandbox has no flock
            "CUDA_VISIBLE_DEVICES": "-1" if self.gpu is None else self.gpu.uuid,
            **({"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {}),
            **RUNTIMES[self.runtime].environment(self.threads, gpu=self.gpu is not None),
        }


@dataclass(frozen=True)
class Limits:
    """Limits of one call, enforced from outside its processes. Users can choose only `memory_bytes`."""

    memory_bytes: int = 4 * GIB
    #: Seconds for the start and the imports, and again for the loading of model and data; the clock starts afterwards.
    startup_s: float = 120.0
    #: Number of processes and threads; TensorFlow starts a few per core.
    processes: int = 128 + 4 * (os.cpu_count() or 1)
    open_files: int = 1024
    file_bytes: int = 256 * MIB
    scratch_bytes: int = 256 * MIB
    shared_memory_bytes: int = 64 * MIB
    #: Number of files in scratch space and /dev/shm together; each takes about 1 KiB of kernel memory.
    scratch_files: int = 20_000
    #: Number of sockets; a full queue takes up to 416 KiB of kernel memory.
    sockets: int = 512
    #: Bytes of output after which the call is ended.
    output_bytes: int = 64 * MIB

    @staticmethod
    def default_memory_bytes(n_gpus: int, warn: Callable[[str], object] = lambda _: None) -> int:
        """Return the default memory limit of a call: 4 GiB, or 16 GiB with GPUs, but at most 60 % of all memory.

        The limit is a multiple of 256 MiB. `warn` receives a line if the machine's memory lowers the limit.
        """
        wanted, memory = (16 if n_gpus else 4) * GIB, usable_memory()
        limit = max(min(wanted, int(memory.total * 0.6)) // (256 * MIB), 1) * 256 * MIB
        if limit < wanted:
            of = f"at most 60 % of {memory.whose} {memory.total / GIB:.1f}G"
            warn(f"the memory limit of a call is {limit / MIB:.0f}M, {of}; --memory sets another limit")
        return limit


@dataclass(frozen=True)
class Launch:
    """The start of a worker: inputs and limits of the call, and descriptors for the worker's messages and output."""

    job: Job
    limits: Limits
    slot: int  #: number of the worker among the workers that exist at the same time
    control: int  #: descriptor of the worker's end of the control channel
    output: int  #: descriptor of the worker's output
