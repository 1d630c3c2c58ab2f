"""Starts Python programs quickly, as forks of a server process that has imported a framework.

    ended = forks.run("tensorflow", [sys.executable, "program.py", "argument"], environment)

A test process starts one server (`fork_server`) per framework, since most programs run for less time than the import
takes. The test still runs the whole program; only the framework's import is shared.
"""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from harness import children
from harness.worker.runtimes import RUNTIMES

#: Runtime -> the imports of its server, and the frameworks that are hidden from these imports.
IMPORTS = {
    "tensorflow": ("import tensorflow; tensorflow.keras.layers", "jax", "torch"),
    "keras2": ("import tensorflow, tf_keras; tensorflow.keras.layers", "jax", "torch"),
    "jax": ("import jax, keras", "tensorflow", "torch"),
    "torch": ("import torch, keras", "tensorflow", "jax"),
}
PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from fork_server import alone, serve
with alone{others}:
    {imports}
sys.path.pop(0)
serve()
"""


class Fork:
    """A running program, with the needed part of the interface of `subprocess.Popen`."""

    def __init__(self, status: socket.socket) -> None:
        self._status = status
        number = status.recv(32)
        assert number, "what forks has ended: does its framework import?"
        self.pid = int(number)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the program ends, and return its exit status, which other threads can still read."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("fork", timeout or 0)
            self.returncode = int(self._status.recv(32, socket.MSG_PEEK))
        return self.returncode


class Forks:
    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._servers: dict[str, tuple[subprocess.Popen[bytes], socket.socket]] = {}

    def start(
        self, runtime: str, command: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]
    ) -> Fork:
        """Start a Python command line in a new session; `streams` are its three standard streams."""
        with self._starting:
            orders = self._server(runtime)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, tempfile.TemporaryFile() as order:
            order.write(json.dumps([list(command), dict(environment), str(Path.cwd())]).encode())
            order.flush()  # before the fork can read it
            socket.send_fds(orders, [b"fork"], [theirs.fileno(), order.fileno(), *streams])
        return Fork(ours)

    def start_child(self, command: Sequence[str], control: int, output: int, environment: Mapping[str, str]) -> Fork:
        """Start a process of `harness.processes`, as `harness.children.start` does."""
        runtime = command[command.index(children.HOME) + 2]
        return self.start(runtime, command, environment, [control, output, output])

    def run(
        self, runtime: str, command: Sequence[object], environment: Mapping[str, str]
    ) -> "subprocess.CompletedProcess[str]":
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, Path(os.devnull).open() as none:
            fork = self.start(runtime, [*map(str, command)], environment, [one.fileno() for one in (none, out, err)])
            status = fork.wait()
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(command, status, out.read(), err.read())

    def end(self) -> None:
        for process, orders in self._servers.values():
            orders.close()
            process.wait()
        self._servers = {}

    def _server(self, runtime: str) -> socket.socket:
        if runtime not in self._servers:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            environment = os.environ | RUNTIMES[runtime].environment(1, gpu=False) | {"CUDA_VISIBLE_DEVICES": "-1"}
            imports, *others = IMPORTS[runtime]
            program = PROGRAM.format(tests=str(Path(__file__).parent), imports=imports, others=tuple(others))
            with theirs:
                process = subprocess.Popen(
                    [sys.executable, "-c", program], stdin=theirs.fileno(), stderr=subprocess.DEVNULL, env=environment
                )
            self._servers[runtime] = process, ours
        return self._servers[runtime][1]


forks = Forks()
