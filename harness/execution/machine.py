"""The cores, GPUs and memory of this machine, and the number of calls that it makes at once."""

import platform
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.configuration import GIB, MIB
from harness.cores import available_cores
from harness.errors import UserError, Warn
from harness.gpus import Gpu, find_gpus
from harness.machine_memory import usable_memory
from harness.sandbox import Limits
from harness.text import counted

#: Minimum memory limit of a call in bytes: the import of a framework needs it.
LEAST_MEMORY = 256 * MIB

#: Maximum number of concurrent calls per core.
PER_CORE = 4


@dataclass(frozen=True)
class Lanes:
    """The cores and GPUs of concurrent calls. A call whose clock runs has `threads` cores to itself."""

    workers: int  #: number of calls whose clocks run at the same time
    threads: int  #: cores per call
    cores: int  #: cores that this process may use
    gpus: tuple[Gpu, ...]  #: GPUs, given to sandboxes in turn

    @property
    def sandboxes(self) -> int:
        """Maximum number of sandboxes at the same time, including sandboxes whose call has not begun."""
        spare = self.cores - self.workers * self.threads
        return self.workers + max(min(self.workers, spare), 1)  # a killed sandbox frees its cores before its end


class Cores:
    """A semaphore of cores, from which a caller takes several at once."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._changed = threading.Condition()

    @contextmanager
    def take(self, number: int) -> Iterator[None]:
        """Wait for `number` cores, and hold them within the context."""
        with self._changed:
            self._changed.wait_for(lambda: self._free >= number)
            self._free -= number
        try:
            yield
        finally:
            with self._changed:
                self._free += number
                self._changed.notify_all()


def memory_for(memory_bytes: int | None, warn: Warn = lambda _: None) -> int:
    """Return `memory_bytes`, or the default limit for None. Raise `UserError` for a number too small or too large."""
    if memory_bytes is None:
        return Limits.default_memory_bytes(len(find_gpus()), warn)
    memory = usable_memory()
    if not LEAST_MEMORY <= memory_bytes <= memory.total:
        expected = f"from 256M, which imports need, to {memory.whose} {memory.total / GIB:.1f}G"
        found = f"{memory_bytes // MIB}M" if memory_bytes >= MIB else counted(memory_bytes, "byte")
        raise UserError("--memory", expected=expected, found=found)
    return memory_bytes


def plan_lanes(workers: int | None, memory_bytes: int) -> Lanes:
    """Return the cores and GPUs of `workers` concurrent calls. Raise `UserError` for too many workers.

    By default, `workers` is the number of GPUs; without GPUs, it is the number of cores for which the memory suffices.
    """
    cores, gpus = available_cores(), tuple(find_gpus())
    if workers is not None and not gpus and workers > PER_CORE * cores:
        raise UserError("--workers", expected=f"a number from 1 to {PER_CORE * cores}, or auto", found=workers)
    if workers is None:
        fitting = int(0.9 * usable_memory().total) // memory_bytes
        workers = len(gpus) or max(min(cores, fitting), 1)
    if gpus and workers > len(gpus):
        raise UserError("--workers: one call per GPU", expected=f"at most {len(gpus)}", found=workers)
    threads = max((cores - 1) // workers, 1) if workers < cores else 1
    return Lanes(workers, threads, cores, gpus)


def machine_class() -> str:
    """Return number of cores, processor and GPUs as text. If this text differs, values of calls may differ, too."""
    gpus = "".join(f", {gpu.model}" for gpu in find_gpus())
    return f"{available_cores()} x {_processor()}{gpus}"


def describe_machine() -> dict[str, str]:
    """Return the properties of this machine that are stored in records."""
    return {"kernel": platform.release(), "processor": _processor(), "machine_class": machine_class()}


def _processor() -> str:
    if sys.platform != "linux":
        return platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
