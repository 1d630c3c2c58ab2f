"""A sandbox of bubblewrap's that a forked worker joins."""

import os
from contextlib import suppress

from harness.sandbox import bubblewrap
from harness.sandbox.body import StartError, memory_file
from harness.sandbox.cgroup import RunGroup
from harness.sandbox.enclosure import Enclosure, new_group
from harness.sandbox.job import Job
from harness.sandbox.limits import Limits
from harness.sandbox.seccomp import filter_program
from harness.sandbox.staging import ECHO

#: The program inside that holds a sandbox open for a fork: it echoes a line, and waits for more.
HOLDER = f"{bubblewrap.JOB_DIRECTORIES[0]}/{ECHO}"


class Placeholder(Enclosure):
    """A sandbox that a fork will join, held open by a process that is as confined and as limited as the worker.

    The worker is the same user. It must not get into that process, in which it would be somebody that nobody watches.
    """

    def __init__(self, job: Job, limits: Limits, slot: int, sink: int, groups: RunGroup | None) -> None:
        """Make the sandbox, and wait until all of it is there and the process runs; raises `StartError`."""
        seccomp = memory_file(filter_program(job.gpu is not None))
        (given, line), (heard, answer) = os.pipe(), os.pipe()
        self._line = os.fdopen(line, "wb", buffering=0)
        with os.fdopen(heard, "rb") as hears:
            try:
                options, prefix = bubblewrap.sandbox(job, limits, slot)
                super().__init__(
                    [*options, "--seccomp", str(seccomp)], [*prefix, HOLDER], (seccomp,), limits,
                    output=answer, errors=sink, group=new_group(groups, limits), source=given,
                )  # fmt: skip
            except StartError:
                self._line.close()
                raise
            finally:
                for descriptor in (seccomp, given, answer):
                    os.close(descriptor)
            with suppress(BrokenPipeError):
                self._line.write(b"ready\n")
            if not hears.readline():
                self.kill()
                self.close()
                raise StartError("the sandbox ended before it was ready")

    def close(self) -> None:
        """Let the holder end, too, if it has not been killed."""
        self._line.close()
        super().close()
