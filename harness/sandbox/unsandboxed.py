"""The same worker as a plain process, for one's own code only: no isolation, and its results never rank."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

from harness.sandbox.job import BOOTSTRAP, Job


def start(job: Job, control: int, sink: int) -> subprocess.Popen[bytes]:
    """Start the worker in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-I", "-B", "-u", "-c", BOOTSTRAP, str(control), *map(str, job.directories)],
        env=job.environment(home=str(job.worker.parent)),
        stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, pass_fds=(control,), start_new_session=True,
    )  # fmt: skip


def kill(pid: int) -> None:
    """Kill the worker and what it started in its own process group."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
