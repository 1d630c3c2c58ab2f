"""The kind of sandbox `fast`: every worker is a fork of a zygote, a process that has already imported the framework.

The sandbox is the same as with `fresh`: bubblewrap creates it around a placeholder process. The fork joins the sandbox
and then drops every privilege. Calls share only the memory that the imports have filled.
"""

import os
from collections.abc import Sequence
from contextlib import suppress

from harness.cache import runs_programs
from harness.errors import UserError, Warn
from harness.sandbox import bubblewrap
from harness.sandbox.cgroup import RunGroup
from harness.sandbox.job import Job, Launch
from harness.sandbox.kinds.fresh import Enclosure, Fresh
from harness.sandbox.running_sandbox import RunningSandbox, StartError
from harness.sandbox.staging import ECHO
from harness.sandbox.zygote import WorkerReport, Zygote, Zygotes

#: The program of the placeholder process: it echoes its input, and keeps the sandbox open while it waits for more.
HOLDER = f"{bubblewrap.JOB_DIRECTORIES[0]}/{ECHO}"


class Fast(Fresh):
    """bubblewrap's sandbox with a forked worker, or, if forks do not work and this is allowed, a new interpreter."""

    name = "fast"
    summary = "a fork of a process that has imported the framework, in a new sandbox"

    def __init__(self, instead: Warn | None = None) -> None:
        """If forks do not work, call `instead` and start new interpreters; without `instead`, raise an error."""
        super().__init__()
        self._instead = instead
        self._zygotes = Zygotes()

    @property
    def name_in_records(self) -> str:
        """The sandbox's name in records: `bubblewrap/fast`, or `bubblewrap/fresh` if forks do not work."""
        return f"{self.isolation}/{self.name if self._zygotes else Fresh.name}"

    def expect(self, trials: Sequence[Job]) -> None:
        """For each runtime of `trials`, start the process that forks workers, without waiting for its imports."""
        super().prepare(trials)
        self._zygotes.begin(trials)

    def prepare(self, trials: Sequence[Job]) -> None:
        """For each runtime, start the process from which workers are forked, and make a test call.

        If that fails, warn the user, and start a new interpreter for every call. Raise `UserError` if no such fallback
        was requested.
        """
        super().prepare(trials)
        try:
            self._zygotes.start(trials, self.start)
        except StartError as error:
            self._zygotes.close()
            reason = f"fast starts do not work here: {error}"
            if not runs_programs():
                reason += "; no program may run from the cache (noexec): name another cache by PGDL_CACHE"
            if self._instead is None:
                raise UserError(reason, remedy="use --sandbox fresh") from error
            self._instead(f"{reason}; every call starts a new interpreter")

    def start(self, launch: Launch) -> RunningSandbox:
        """Start a new sandbox, and fork a worker into it. If forks no longer work, start a new interpreter in it."""
        forked = self._zygotes.fork(launch.job, lambda zygote: ForkedSandbox(zygote, launch, self.groups))
        return super().start(launch) if forked is None else forked

    def close(self) -> None:
        """End the processes from which workers are forked, and remove the run's control group."""
        self._zygotes.close()
        super().close()


class Placeholder(Enclosure):
    """A sandbox in which only a placeholder process runs, so that a forked worker can join the sandbox.

    The placeholder has the same limits and the same user as the worker. The harness does not watch the placeholder, so
    the worker must not be able to gain control of it.
    """

    def __init__(self, launch: Launch, groups: RunGroup | None) -> None:
        """Create the sandbox, and wait until the placeholder process runs in it. Raise `StartError` if that fails."""
        (given, line), (heard, answer) = os.pipe(), os.pipe()
        self._line = os.fdopen(line, "wb", buffering=0)
        with os.fdopen(heard, "rb") as hears:
            try:
                super().__init__(launch, groups, [HOLDER], source=given, output=answer)
            except StartError:
                self._line.close()
                raise
            finally:
                for descriptor in (given, answer):
                    os.close(descriptor)
            with suppress(BrokenPipeError):
                self._line.write(b"ready\n")
            if not hears.readline():
                self.kill()
                Placeholder.close(self)  # the base method: a subclass has opened nothing yet
                raise StartError("the sandbox ended before it was ready")

    def close(self) -> None:
        """Close the sandbox and the placeholder's input; the placeholder then ends."""
        self._line.close()
        super().close()


class ForkedSandbox(Placeholder):
    """A sandbox that a placeholder process keeps open, with a worker that was forked into it."""

    def __init__(self, zygote: Zygote, launch: Launch, groups: RunGroup | None) -> None:
        """Create the sandbox, and fork a worker into it. Raise `StartError` if that fails."""
        super().__init__(launch, groups)
        entrances = [self.group.open_entrance()] if self.group else []
        self._source, report = os.pipe()
        try:
            zygote.fork(
                launch, bubblewrap.HOME, report, [self.pidfd, *entrances],
                directories=bubblewrap.JOB_DIRECTORIES[1:], paths=None, other_processes=0,
            )  # fmt: skip
            self._report = WorkerReport(self._source, zygote)
        except StartError:
            self.kill()
            self.close()
            raise
        finally:
            for descriptor in entrances:
                os.close(descriptor)

    def exit_status(self) -> int | None:
        """Return the worker's exit status as reported by the worker's parent, which runs outside the sandbox."""
        return self._report.exit_status

    def is_gone(self) -> bool:
        """Return whether the placeholder and the worker's parent have ended."""
        self._report.reap()
        return self._report.ended and super().is_gone()

    def close(self) -> None:
        """Close the sandbox, and the pipe from the worker's parent."""
        os.close(self._source)
        super().close()
