"""Identifies a process beyond its ID, which another process may get later."""

import functools
import hashlib
import os
import platform
import sys
from pathlib import Path

import psutil


@functools.cache
def process_scope() -> str:
    """Return an identifier of the scope of process IDs: this machine, its present boot, and this PID namespace."""
    if sys.platform != "linux":  # without namespaces; start times of processes distinguish boots
        return hashlib.sha256(platform.node().encode()).hexdigest()[:12]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    namespace = Path("/proc/self/ns/pid").readlink()
    return hashlib.sha256(f"{platform.node()}{boot}{namespace}".encode()).hexdigest()[:12]


def start_time(pid: int) -> str:
    """Return the start time of a process of this scope as text; empty if no such process is running."""
    if sys.platform != "linux":
        try:
            process = psutil.Process(pid)
            return "" if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.6f}"
        except psutil.NoSuchProcess:
            return ""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in "ZX" else fields[18]


def own_identity() -> tuple[str, int, str]:
    """Return scope, process ID and start time of this process."""
    return process_scope(), os.getpid(), start_time(os.getpid())
