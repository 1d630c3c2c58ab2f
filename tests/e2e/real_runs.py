"""Helpers of the end-to-end tests: they write submissions, read records, and watch processes."""

import io
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
import pytest
from throwaway import write_submission as write_submission

from harness.cli.main import main
from harness.processes.runtimes import QUICKEST, installed_runtime

PGDL = (sys.executable, "-m", "pgdl")

#: For calls in a process of their own to which the framework does not matter: its import takes the fewest seconds.
FASTEST = ("--runtime", installed_runtime(QUICKEST).name)


def heed_interrupts() -> None:
    """Reset signals in a new process: the caller may ignore Ctrl-C or a closed terminal."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def run_here(arguments: list[str], environment: dict[str, str], directory: Path) -> subprocess.CompletedProcess[str]:
    with ExitStack() as held:
        held.enter_context(mock.patch.dict(os.environ, environment, clear=True))
        held.enter_context(mock.patch.object(sys, "argv", ["pgdl", *arguments]))
        held.enter_context(mock.patch.object(threading, "excepthook", threading.excepthook))
        held.enter_context(chdir(directory))
        out = held.enter_context(redirect_stdout(io.TextIOWrapper(io.BytesIO(), write_through=True)))
        err = held.enter_context(redirect_stderr(io.TextIOWrapper(io.BytesIO(), write_through=True)))
        with pytest.raises(SystemExit) as ended:
            main()
        printed, errors = (text.buffer.getvalue().decode() for text in (out, err))
    assert isinstance(ended.value.code, int)
    return subprocess.CompletedProcess(arguments, ended.value.code, printed, errors)


def records(database: Path) -> list[dict[str, Any]]:
    """Return all records of a database, oldest first."""
    if not database.exists():
        return []
    with sqlite3.connect(database, timeout=240) as connection:
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute("select * from evaluations order by id")]
        except sqlite3.OperationalError:  # the table is not there yet
            return []


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 240) -> None:
    """Wait until `condition` holds; after `seconds`, fail with the message `what`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.05)


#: The body of a submission whose calls wait until they are told to go on.
WAITS = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
open("/proc/self/comm", "w").write("waiting")
signal.sigwait({signal.SIGUSR1})
"""


def waiting(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the processes of a harness' calls that wait for a signal."""
    found = []
    for below in descendants(process):
        with suppress(psutil.NoSuchProcess):
            if below.name() == "waiting":
                found.append(below)
    return found


def go_on(process: subprocess.Popen[str]) -> None:
    """Send the signal for which a harness' calls wait."""
    for call in waiting(process) if process.poll() is None else ():
        with suppress(psutil.NoSuchProcess):
            call.send_signal(signal.SIGUSR1)


def descendants(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return all processes that a harness has started, directly or indirectly."""
    return psutil.Process(process.pid).children(recursive=True)


def alive(processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    living = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
    return living


def names(process: subprocess.Popen[str]) -> list[str]:
    found = []
    for below in descendants(process):
        with suppress(psutil.NoSuchProcess):
            found.append(below.name())
    return found
