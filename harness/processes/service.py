"""The main program of a process that answers questions. Its arguments are PROGRAM RUNTIME [ARGUMENT ...].

PROGRAM is a module with a function `prepare(runtime, *arguments)`, which gets the name of a runtime, and returns a
function `answer(question, say)`. Questions come over the socket at standard input. For each call of `say(EVENT)`, the
process sends `["event", EVENT]`, and at the end one of these:

- `["answer", ANSWER]`,
- `["problem", LINE]`, if `answer` raises `UserError`, `OSError`, `FloatingPointError` or `MemoryError`,
- `["unable", LINE]`, if `prepare` raises one of these errors,
- `["fault", TRACEBACK]`, for any other error.

Printed text of programs and libraries goes to standard error.
"""

import importlib
import socket
import sys
import traceback

from harness.errors import UserError
from harness.processes.channel import ProcessChannel
from harness.processes.models import Program
from harness.worker.channel import take_input
from harness.worker.limits import die_with_parent

#: Maximum number of characters of a traceback.
TRACEBACK = 10_000


def main() -> None:
    """Answer questions until the client closes the connection."""
    name, *arguments = sys.argv[1:]
    channel = ProcessChannel(socket.socket(fileno=take_input()))
    die_with_parent()
    program: Program | None = None
    unable = ("", "")
    try:
        program = importlib.import_module(name).prepare(*arguments)
    except Exception as error:
        unable = _failure(error, "unable")
    while True:
        try:
            question = channel.receive()
        except EOFError:
            return
        if program is None:
            channel.send(unable)
            continue
        try:
            channel.send(("answer", program(question, lambda event: channel.send(("event", event)))))
        except Exception as error:
            channel.send(_failure(error, "problem"))


def _failure(error: Exception, kind: str) -> tuple[str, str]:
    if isinstance(error, UserError | OSError | FloatingPointError):
        return kind, str(error)
    if isinstance(error, MemoryError):
        return kind, "out of memory"
    return "fault", "".join(traceback.format_exception(error))[-TRACEBACK:]
