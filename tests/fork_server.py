"""The server process of `forks`: it imports a framework once, and forks for each program that a test starts.

The first fork starts the program in a second fork, and reports the program's process ID and exit status.
"""

import array
import gc
import json
import os
import runpy
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NoReturn

from harness.worker.channel import take_input
from harness.worker.runtimes.runtime import uncollected, without

#: Optional packages that frameworks import if they are installed: they take time, write files, or start threads.
UNWANTED = ("matplotlib", "pandas", "pyarrow", "sklearn")


@contextmanager
def alone(*others: str) -> Iterator[None]:
    """Let imports be quick in the context: without `UNWANTED` packages, the frameworks `others` and the collector."""
    with uncollected(), ExitStack() as stack:
        for name in (*UNWANTED, *others):
            stack.enter_context(without(name))
        yield


def serve() -> NoReturn:
    """Fork for each order to run a program, until the test process ends."""
    orders = socket.socket(fileno=take_input())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()  # so that garbage collection in a fork does not write to shared pages
    while True:
        received = orders.recvmsg(16, socket.CMSG_SPACE(5 * 4))
        if not received[0]:
            os._exit(0)
        status, order, *streams = descriptors = array.array("i", received[1][0][2])
        if os.fork() == 0:
            orders.close()
            look_after(status, order, streams)
        for descriptor in descriptors:
            os.close(descriptor)


def look_after(status: int, order: int, streams: list[int]) -> NoReturn:
    """Start the program in a fork, and send its process ID and exit status to the socket `status`."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if (child := os.fork()) == 0:
        os.close(status)
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
        os._exit(become(*json.loads(os.pread(order, 2**24, 0))))
    for descriptor in streams:
        os.close(descriptor)
    os.write(status, str(child).encode())
    os.write(status, str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
    os._exit(0)


def become(command: list[str], environment: dict[str, str], directory: str) -> int:
    """Run a Python command line in this process as if the interpreter had just started; return the exit code."""
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)
    try:
        run(*command[1:])
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def run(program: str, *arguments: str) -> None:
    """Run `-c CODE`, `-m MODULE` or a file, with its arguments; `-I` and `-X OPTION` are skipped."""
    while program in ("-I", "-X"):
        program, *arguments = arguments[program == "-X" :]
    name, own = (arguments[0], arguments[1:]) if program in ("-c", "-m") else (program, arguments)
    there = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:0] = [os.path.dirname(name) if name == program else os.getcwd(), *there]  # noqa: PTH109, PTH120
    sys.argv = ["-c" if program == "-c" else name, *own]
    if program == "-c":
        exec(name, {"__name__": "__main__"})
    elif program == "-m":
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(name, run_name="__main__")
