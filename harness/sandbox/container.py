"""A worker in a container: started, found, watched and removed through the client of a container engine."""

import secrets
import signal
import subprocess
import time
from pathlib import Path

from harness.place import own, place, started
from harness.sandbox.body import StartError, shell_status
from harness.sandbox.processes import Processes, Tree
from harness.sandbox.storage import Storage

#: The engine's client.
CLIENT = "docker"

#: Exit status of what SIGKILL ended.
KILLED = 128 + signal.SIGKILL

#: Seconds between two questions whether a container runs.
PAUSE = 0.05

#: Seconds that the engine may take to answer, or to make a container without a job.
ANSWER_S = 60.0


class ContainerBody:
    """A container, and the client that passes its streams on."""

    def __init__(self, name: str, arguments: list[str], control: int, sink: int, patience_s: float) -> None:
        """Run the client with `arguments` and wait until the container runs; raises `StartError`."""
        self._name = name
        self._removal: subprocess.Popen[bytes] | None = None
        self._client = subprocess.Popen(
            [CLIENT, *arguments], stdin=control, stdout=control, stderr=sink,
            start_new_session=True,  # Ctrl-C is for the harness alone
        )  # fmt: skip
        self.processes: Processes = Tree(*self._wait_until_running(time.monotonic() + patience_s))

    def storage(self) -> Storage:
        """Not looked at: what the kernel needs for files and sockets counts as the container's memory."""
        return Storage()

    def exit_status(self) -> int | None:
        """The client ends as the worker does."""
        return shell_status(self._client.poll())

    def ran_out_of_memory(self) -> bool:
        """Whether the engine says so, or the worker was killed.

        Not every engine notices. The first process of a container can only be killed from outside, which the
        kernel does at the memory limit, or the harness by `kill`.
        """
        if self._removal is not None:
            return False
        return (
            self.exit_status() == KILLED or _known("inspect", "--format", "{{.State.OOMKilled}}", self._name) == "true"
        )

    def kill(self) -> None:
        """Have the container killed and removed."""
        self._removal = subprocess.Popen(
            [CLIENT, "rm", "--force", "--volumes", self._name], start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def is_gone(self) -> bool:
        """Whether the engine has removed the container, and the client has ended.

        An engine that is busy, e.g. with a fork bomb, may give up: it is asked again.
        """
        if self._removal is None or self._removal.poll() is None:
            return False
        if self._removal.returncode != 0:
            self.kill()
            return False
        if self._client.poll() is None:
            self._client.kill()  # it has nothing to pass on any more
        return self._client.poll() is not None

    def close(self) -> None:
        """Nothing is held."""

    def _wait_until_running(self, deadline: float) -> tuple[int, ...]:
        while self._client.poll() is None and time.monotonic() < deadline:
            pid, _, identity = _known("inspect", "--format", "{{.State.Pid}} {{.Id}}", self._name).partition(" ")
            if pid not in ("", "0"):
                return (int(pid),) if _is_here(int(pid), identity) else ()
            time.sleep(PAUSE)
        self.kill()
        self._client.kill()
        self._client.wait()
        raise StartError("the container did not start:")


def _is_here(pid: int, identity: str) -> bool:
    """Whether the process is one of this machine's, seen under that number: an engine may be anywhere."""
    try:
        return identity in Path(f"/proc/{pid}/cgroup").read_text()
    except OSError:
        return False


class EngineError(Exception):
    """What the client printed when it failed."""


def ask(*arguments: str) -> str:
    """Return what the client prints; raises `EngineError`."""
    try:
        done = subprocess.run(
            [CLIENT, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ANSWER_S
        )
    except subprocess.TimeoutExpired as error:
        raise EngineError(f"the engine did not answer within {ANSWER_S:g} s") from error
    if done.returncode != 0:
        raise EngineError(" ".join(done.stderr.split())[-300:] or f"exit status {done.returncode}")
    return done.stdout.strip()


def _known(*arguments: str) -> str:
    """What the client prints; nothing if the engine does not know, or does not answer."""
    try:
        return ask(*arguments)
    except EngineError:
        return ""


def new_name() -> str:
    """A name that no container has; it says which harness made it."""
    return f"{_prefix(*own())}{secrets.token_hex(6)}"


class Keeper:
    """Sees to it that no container outlives its harness; a process that waits for the harness to end.

    An engine's containers do not die with their client, and a submission that loops does not notice either.
    """

    def __init__(self) -> None:
        """Remove what harnesses left that were killed together with their keepers, and start keeping."""
        for name in _known("ps", "--all", "--filter", f"name=pgdl-{place()}-", "--format", "{{.Names}}").split():
            pid, since = name.split("-")[2:4]
            if started(int(pid)) != since:
                _known("rm", "--force", "--volumes", name)
        remove = f"{CLIENT} ps --all --quiet --filter name={_prefix(*own())} | xargs -r {CLIENT} rm --force --volumes"
        script = f"cat; for attempt in 1 2 3 4 5; do {remove} && break; sleep 2; done"
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", script], start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def close(self) -> None:
        """Remove whatever is still there."""
        self._process.communicate()


def _prefix(where: str, pid: int, since: str) -> str:
    return f"pgdl-{where}-{pid}-{since}-"
