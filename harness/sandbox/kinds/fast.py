"""bubblewrap's sandbox, with a fork of a zygote for every call: a process that has already imported the framework.

The sandbox is the same as for a fresh start: bubblewrap creates it around a placeholder process, and the fork joins it
and then drops every privilege. Calls share nothing but the memory that the imports have filled.
"""

import os
from collections.abc import Sequence
from typing import Self

from harness.cache import runs_programs
from harness.errors import UserError
from harness.sandbox import bubblewrap
from harness.sandbox.body import Body, StartError, Storage, memory_file
from harness.sandbox.enclosure import Placeholder
from harness.sandbox.job import Job
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.kinds.kind import Warn
from harness.sandbox.limits import Limits
from harness.sandbox.seccomp import filter_program
from harness.sandbox.zygote import WorkerReport, Zygote, Zygotes


class Fast(Fresh):
    """The same sandbox with a faster start; where forks do not work, it may fall back to fresh starts."""

    name = "fast"
    way = "fast"
    auto = 1
    summary = "a fork of a process that has imported the framework, in a new sandbox"

    def __init__(self, instead: Warn | None = None) -> None:
        """`instead` receives the reason for falling back to fresh starts; without it a failing fork is an error."""
        super().__init__()
        self._instead = instead
        self._zygotes = Zygotes()

    @property
    def recorded(self) -> str:
        """Its name in a record; where forks do not work, or no longer, that of fresh starts."""
        return super().recorded if self._zygotes else f"{self.isolation}/{Fresh.way}"

    @classmethod
    def for_auto(cls, warn: Warn) -> Self:
        """Fall back to fresh starts, with a warning."""
        return cls(instead=warn)

    def expect(self, trials: Sequence[Job]) -> None:
        """Start a zygote for each trial, which takes seconds to import the framework."""
        super().prepare(trials)
        self._zygotes.begin(trials)

    def prepare(self, trials: Sequence[Job]) -> None:
        """Start a zygote for each trial and run its call; raises `UserError` where that does not work."""
        super().prepare(trials)
        try:
            self._zygotes.start(trials, self.start)
        except StartError as error:
            self._zygotes.close()
            reason = f"fast starts do not work here: {error}"
            if not runs_programs():
                reason += "; no program may run from the cache (noexec): name another by PGDL_CACHE"
            if self._instead is None:
                raise UserError(reason, remedy="use --sandbox fresh") from error
            self._instead(f"{reason}; every call starts a new interpreter")

    def start(self, job: Job, limits: Limits, slot: int, control: int, sink: int) -> Body:
        """Fork a worker into a new sandbox, or start an interpreter there without a zygote; raises `StartError`."""

        def fork(zygote: Zygote) -> "ForkedBody":
            return _fork(zygote, Placeholder(job, limits, slot, sink, self.groups), job, slot, control, sink)

        forked = self._zygotes.fork(job, fork)
        return super().start(job, limits, slot, control, sink) if forked is None else forked

    def close(self) -> None:
        """End the zygotes and remove the control group."""
        self._zygotes.close()
        super().close()


def _fork(zygote: Zygote, placeholder: Placeholder, job: Job, slot: int, control: int, sink: int) -> "ForkedBody":
    """Ask the zygote to fork a worker into the placeholder's sandbox; on failure the sandbox is ended."""
    entrances = [placeholder.group.open_entrance()] if placeholder.group else []
    program = memory_file(filter_program(job.gpu is not None))
    source, report = os.pipe()
    order = {
        "uid": bubblewrap.worker_uid(slot),
        "environment": job.environment(home=bubblewrap.HOME),
        "home": bubblewrap.HOME,
        "directories": bubblewrap.JOB_DIRECTORIES[1:],
        "paths": None,
        "other_processes": 0,
    }
    try:
        try:
            zygote.order(order, [control, sink, program, report, placeholder.pidfd, *entrances])
        finally:
            for descriptor in (program, report, *entrances):
                os.close(descriptor)
        return ForkedBody(placeholder, source, zygote)
    except StartError:
        os.close(source)
        placeholder.kill()
        placeholder.close()
        raise


class ForkedBody(Body):
    """A worker that a zygote has forked into the sandbox of a placeholder."""

    def __init__(self, placeholder: Placeholder, report: int, zygote: Zygote) -> None:
        """Wait for the worker's process ID; raises `StartError`."""
        self._placeholder, self._descriptor = placeholder, report
        self._report = WorkerReport(report, zygote)
        self.processes = placeholder.processes

    def storage(self) -> Storage | None:
        """Return the usage of scratch space and network in the placeholder's sandbox."""
        return self._placeholder.storage()

    def exit_status(self) -> int | None:
        """Return the worker's exit status as reported by its parent, which runs outside the sandbox."""
        return self._report.exit_status

    def ran_out_of_memory(self) -> bool:
        """Return whether the control group, which placeholder and worker share, hit its memory limit."""
        return self._placeholder.ran_out_of_memory()

    def kill(self) -> None:
        """Kill the placeholder; the kernel kills everything in its namespace."""
        self._placeholder.kill()

    def is_gone(self) -> bool:
        """Return whether the placeholder and the worker's parent have ended."""
        self._report.reap()
        return self._report.ended and self._placeholder.is_gone()

    def close(self) -> None:
        """Close the report and the placeholder."""
        os.close(self._descriptor)
        self._placeholder.close()
