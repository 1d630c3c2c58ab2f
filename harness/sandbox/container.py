"""Starts, watches and removes the container of a worker through the client of a container engine."""

import os
import secrets
import subprocess
import time
from pathlib import Path

from harness import children
from harness.process_identity import own_identity, process_scope, start_time
from harness.sandbox.processes import Tree
from harness.sandbox.running_sandbox import KILLED, RunningSandbox, StartError, shell_status

#: The engine's client program.
CLIENT = "docker"

#: Seconds between two checks of whether a container runs.
PAUSE_S = 0.05

#: Seconds within which the engine must answer, or must run a container that tests the engine.
ANSWER_S = 60.0

#: Program that waits for the end of its standard input, and then removes all containers of a harness. Its arguments are
#: the engine's client and the beginning of the containers' names. A busy engine may fail, so it tries again.
REMOVAL = """
import subprocess, sys, time
client, names = sys.argv[1:]
sys.stdin.read()
for attempt in range(5):
    listed = subprocess.run([client, "ps", "--all", "--quiet", "--filter", f"name={names}"], stdout=subprocess.PIPE)
    found = listed.stdout.decode().split()
    removed = subprocess.run([client, "rm", "--force", "--volumes", *found]) if found else listed
    if listed.returncode == removed.returncode == 0:
        break
    time.sleep(2)
"""


class RunningContainer(RunningSandbox):
    """A container, and the client process that forwards the container's standard streams."""

    def __init__(self, name: str, arguments: list[str], control: int, sink: int, patience_s: float) -> None:
        """Run the client with `arguments`. Raise `StartError` unless the container runs within `patience_s` seconds."""
        self._name = name
        self._removal: children.Child | None = None
        self._client = children.start([CLIENT, *arguments], control, sink, os.environ, answers=True)
        self.processes = Tree(*self._wait_until_running(time.monotonic() + patience_s))

    def exit_status(self) -> int | None:
        """Return the exit status of the client, which equals the exit status of the worker."""
        return shell_status(self._client.poll())

    def ran_out_of_memory(self) -> bool:
        """Return whether memory ran out: the engine reports this, or the worker was killed before `kill` was called.

        Some engines do not report a lack of memory. The worker is PID 1 of the container, so only a process outside can
        kill it: the kernel at the memory limit, or the harness.
        """
        if self._removal is not None:
            return False
        return (
            self.exit_status() == KILLED
            or _ask_or_empty("inspect", "--format", "{{.State.OOMKilled}}", self._name) == "true"
        )

    def kill(self) -> None:
        """Start a process that lets the engine kill and remove the container. Do not wait for this process."""
        nothing = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [CLIENT, "rm", "--force", "--volumes", self._name]
        self._removal = children.popen(command, os.environ, **nothing, **children.OWN_GROUP)

    def is_gone(self) -> bool:
        """Return whether the container is removed and the client has ended. Repeat a failed removal."""
        if self._removal is None or self._removal.poll() is None:
            return False
        if self._removal.returncode != 0:
            self.kill()
            return False
        if self._client.poll() is None:
            self._client.kill()  # the container has no more output
        return self._client.poll() is not None

    def _wait_until_running(self, deadline: float) -> tuple[int, ...]:
        while self._client.poll() is None and time.monotonic() < deadline:
            pid, _, identity = _ask_or_empty("inspect", "--format", "{{.State.Pid}} {{.Id}}", self._name).partition(" ")
            if pid not in ("", "0"):
                return (int(pid),) if _is_local(int(pid), identity) else ()
            time.sleep(PAUSE_S)
        self.kill()
        self._client.kill()
        self._client.wait()
        raise StartError("the container did not start:")


def _is_local(pid: int, identity: str) -> bool:
    """Return whether the container `identity` has the process `pid` on this machine; False if the engine is remote."""
    try:
        return identity.encode() in Path(f"/proc/{pid}/cgroup").read_bytes()
    except OSError:
        return False


class EngineError(Exception):
    """The client of the container engine failed; the message is the client's error output."""


def ask(*arguments: str) -> str:
    """Return the output of the engine's client. Raise `EngineError` if it fails or exceeds `ANSWER_S` seconds."""
    try:
        done = children.run([CLIENT, *arguments], os.environ, seconds=ANSWER_S)
    except subprocess.TimeoutExpired as error:
        raise EngineError(f"the engine did not answer within {ANSWER_S:g} s") from error
    if done.returncode != 0:
        raise EngineError(" ".join(_text(done.stderr).split())[-300:] or f"exit status {done.returncode}")
    return _text(done.stdout).strip()


def _text(printed: bytes) -> str:
    return printed.decode(errors="replace")


def _ask_or_empty(*arguments: str) -> str:
    try:
        return ask(*arguments)
    except EngineError:
        return ""


def new_name() -> str:
    """Return a new container name; another harness can tell from the name whether this process still runs."""
    return f"{_prefix(*own_identity())}{secrets.token_hex(6)}"


def start_reaper() -> children.Child:
    """Start and return a process that removes all containers of this harness when the harness ends.

    The process waits until its standard input ends, which happens even if the harness is killed. Before this function
    starts the process, it removes the containers of harnesses that have ended.
    """
    names = _ask_or_empty("ps", "--all", "--filter", f"name=pgdl-{process_scope()}-", "--format", "{{.Names}}")
    for name in names.split():
        pid, since = name.split("-")[2:4]
        if start_time(int(pid)) != since:
            _ask_or_empty("rm", "--force", "--volumes", name)
    return children.popen(
        children.interpreter(REMOVAL, CLIENT, _prefix(*own_identity()), options=("-S",)), os.environ,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **children.OWN_GROUP,
    )  # fmt: skip


def _prefix(scope: str, pid: int, since: str) -> str:
    return f"pgdl-{scope}-{pid}-{since}-"
