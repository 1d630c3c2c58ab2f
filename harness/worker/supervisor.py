"""The supervisor of a call without a PID namespace: reports the worker's exit status and kills the call's processes.

The supervisor is a program of its own, without the memory of the process from which the worker was forked. It adopts
every orphaned process of the call, and can signal only processes of the call (`harness.worker.landlock`). When the
harness ends, the supervisor ends the call.
"""

import json
import os
import select
import signal
from contextlib import suppress

from harness.worker.scratch import remove


def main(line: int, worker: int, scratch: str) -> None:
    """Report the end of process `worker` on the socket `line`; end the call and remove `scratch` when `line` closes."""
    wake, wakes = os.pipe()
    for end in (wake, wakes):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    over = False
    while not over:
        ended, status = _reap()
        if ended == worker:
            _report(line, status=os.waitstatus_to_exitcode(status))
        # The line is looked at after every process, because processes can end as fast as they are reaped.
        over = line in select.select([line, wake], [], [], 0 if ended else None)[0]
        with suppress(BlockingIOError):
            os.read(wake, 4096)
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # exactly the processes of the call, all at once
    with suppress(ChildProcessError):
        while True:
            os.wait()
    _report(line, gone=True)
    remove(scratch)


def _reap() -> tuple[int, int]:
    """Return ID and status of a process that has ended; zeros if there is none."""
    with suppress(ChildProcessError):
        return os.waitpid(-1, os.WNOHANG)
    return 0, 0


def _report(line: int, **facts: object) -> None:
    with suppress(BrokenPipeError):  # the harness has ended
        os.write(line, json.dumps(facts).encode() + b"\n")
