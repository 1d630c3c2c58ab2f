"""A bubblewrap sandbox that a forked worker joins."""

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

#: The program of the placeholder process, which keeps the sandbox open: it echoes its input and waits.
HOLDER = f"{bubblewrap.JOB_DIRECTORIES[0]}/{ECHO}"


class Placeholder(Enclosure):
    """A sandbox for a forked worker, kept open by a placeholder process as confined and limited as the worker.

    The worker runs as the same user. It must not gain control of that process, which is not watched.
    """

    def __init__(self, job: Job, limits: Limits, slot: int, sink: int, groups: RunGroup | None) -> None:
        """Create the sandbox, and wait until it is complete and the process runs; raises `StartError`."""
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
        """End the placeholder process, too, if it has not been killed."""
        self._line.close()
        super().close()
