"""The kind of sandbox `none`: plain processes, without any isolation."""

from collections.abc import Sequence

from harness import children
from harness.configuration import UNSANDBOXED
from harness.sandbox.job import BOOTSTRAP, Job, Launch
from harness.sandbox.kinds.kind import Kind
from harness.sandbox.processes import Tree
from harness.sandbox.running_sandbox import RunningSandbox, shell_status


class Plain(Kind):
    """Starts workers as plain processes of the user, for the user's own code only."""

    name = UNSANDBOXED
    summary = "no sandbox"
    is_sandbox = False
    needs_linux = False
    isolation = UNSANDBOXED

    def problem(self) -> None:
        """Return None: plain processes work everywhere."""

    def prepare(self, trials: Sequence[Job]) -> None:
        """Do nothing: plain processes need no preparation."""

    def start(self, launch: Launch) -> "UnsandboxedWorker":
        """Start a new interpreter without isolation."""
        return UnsandboxedWorker(launch)


class UnsandboxedWorker(RunningSandbox):
    """A worker without a sandbox, in a process group of its own. Its files are not measured."""

    def __init__(self, launch: Launch) -> None:
        job = launch.job
        arguments = job.runtime, *map(str, job.directories)
        command = children.interpreter(BOOTSTRAP, *arguments, options=("-B", "-u"))
        environment = job.environment(home=str(job.worker.parent))
        self._process = children.start(command, launch.control, launch.output, environment)
        self.processes = Tree(self._process.pid)

    def exit_status(self) -> int | None:
        """Return the worker's exit status."""
        return shell_status(self._process.poll())

    def kill(self) -> None:
        """Kill the worker's process group."""
        children.kill(self._process)

    def is_gone(self) -> bool:
        """Return whether the worker has ended."""
        return self._process.poll() is not None
