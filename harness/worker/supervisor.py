"""The parent of a call where there is no process namespace: says how the worker ends, and ends all of the call.

A program of its own, so that it holds nothing of the zygote's memory. What was set up before it started stays:
it is the parent of every process of the call that has lost its own, and can signal these alone
(`harness.worker.landlock`). It outlives the harness, and ends the call when the harness is gone.
"""

import json
import os
import select
import signal
from contextlib import suppress

from harness.worker.scratch import remove


def main(line: int, worker: int, scratch: str) -> None:
    """Report on the socket `line`; once the harness closes it, kill everything and remove `scratch`."""
    wake, wakes = os.pipe()
    for end in (wake, wakes):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    over = False
    while not over:
        for pid, status in _ended():
            if pid == worker:
                _say(line, status=os.waitstatus_to_exitcode(status))
        over = line in select.select([line, wake], [], [])[0]
        with suppress(BlockingIOError):
            os.read(wake, 4096)
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # all that may be signalled: everything of the call, in one step
    with suppress(ChildProcessError):
        while True:
            os.wait()
    _say(line, gone=True)
    remove(scratch)


def _ended() -> list[tuple[int, int]]:
    """Take leave of children that have ended: process id and status of each."""
    ended = []
    with suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append(child)
    return ended


def _say(line: int, **facts: object) -> None:
    with suppress(BrokenPipeError):  # the harness is gone
        os.write(line, json.dumps(facts).encode() + b"\n")
