"""The identity of a process. Its ID alone is not enough, because the system may give it to a later process."""

import functools
import hashlib
import os
import platform
import sys
from pathlib import Path

import psutil


@functools.cache
def process_scope() -> str:
    """Return 12 hexadecimal digits that identify machine, boot and PID namespace, the scope of a process ID."""
    if sys.platform != "linux":  # no namespaces, and start times differ between boots
        return hashlib.sha256(platform.node().encode()).hexdigest()[:12]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8")
    namespace = Path("/proc/self/ns/pid").readlink()
    return hashlib.sha256(f"{platform.node()}{boot}{namespace}".encode()).hexdigest()[:12]


def start_time(pid: int) -> str:
    """Return the start time of a process, as text for comparison; empty if the process has ended."""
    if sys.platform != "linux":
        try:
            process = psutil.Process(pid)
            return "" if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.6f}"
        except psutil.NoSuchProcess:
            return ""
    try:
        # The name of a process may be any bytes.
        state, *fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].decode().split()
    except OSError:
        return ""
    return "" if state in "ZX" else fields[18]


def own_identity() -> tuple[str, int, str]:
    """Return scope, ID and start time of this process. No other process ever has the same three."""
    return process_scope(), os.getpid(), start_time(os.getpid())
