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

#: What holds a sandbox open for a fork, and where it is inside: it repeats what it is told, and waits for more.
HOLDER, HOLDER_INSIDE = "/bin/cat", "/job/cat"

#: Nobody can look into a process that runs a program which its user may not read.
UNREADABLE = "0111"


class Placeholder(Enclosure):
    """A sandbox that a fork will join, held open by a process that is as confined and as limited as the worker.

    The worker is the same user. It must not get into that process, in which it would be somebody that nobody watches.
    """

    def __init__(self, job: Job, limits: Limits, slot: int, sink: int, groups: RunGroup | None) -> None:
        """Make the sandbox, and wait until all of it is there and the process runs; raises `StartError`."""
        seccomp, program = memory_file(filter_program(job.gpu is not None)), os.open(HOLDER, os.O_RDONLY)
        (given, line), (heard, answer) = os.pipe(), os.pipe()
        self._line = os.fdopen(line, "wb", buffering=0)
        with os.fdopen(heard, "rb") as hears:
            try:
                holder = ["--perms", UNREADABLE, "--ro-bind-data", str(program), HOLDER_INSIDE]
                options, prefix = bubblewrap.sandbox(job, limits, slot, holder)
                super().__init__(
                    [*options, "--seccomp", str(seccomp)], [*prefix, HOLDER_INSIDE], (seccomp, program), limits,
                    output=answer, errors=sink, group=new_group(groups, limits), source=given,
                )  # fmt: skip
            except StartError:
                self._line.close()
                raise
            finally:
                for descriptor in (seccomp, program, given, answer):
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
