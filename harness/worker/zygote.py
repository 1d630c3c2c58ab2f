"""The zygote: a process that has imported a framework, and forks a worker for every call.

A forked worker joins a sandbox that is ready, or confines itself (`harness.worker.landlock`).

The zygote must never run an operation of the framework. The operation's threads would not exist in a fork, and the fork
would wait for these threads forever. Workers can read all of the zygote's memory, so it must hold no secret.
"""

import gc
import itertools
import json
import os
import signal
import socket
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NoReturn

from harness.worker import huge_pages, landlock
from harness.worker.channel import Channel, take_input
from harness.worker.confinement import filter_system_calls, give_up_privileges, join_namespaces
from harness.worker.limits import die_with_parent, offer_to_kernel
from harness.worker.main import serve
from harness.worker.runtimes import RUNTIMES, Runtime

#: Maximum size in bytes of a request, which contains about twenty paths.
ORDER = 1 << 17

#: Maximum number of file descriptors with a request: the worker's control channel, its output, the filter program, the
#: report of its process ID and exit status; for a prepared sandbox also a pidfd of the placeholder, and its control
#: group.
DESCRIPTORS = 6

#: Position of the report among the descriptors.
REPORT = 3

#: Number of forks after which the zygote moves its memory to huge pages: that takes a third of a second, and saves 15
#: ms per fork.
MANY = 20

#: Program of a call's supervisor. Its arguments are the directory of the worker's code, then the arguments of `main`.
SUPERVISOR = (
    "import sys; sys.path.insert(0, sys.argv[1]); from harness.worker.supervisor import main; "
    "main(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])"
)


def main(runtime: str) -> None:
    """Import the libraries, send `ready`, and fork a worker for each request, until standard input ends."""
    die_with_parent()
    orders = socket.socket(fileno=take_input())
    chosen = RUNTIMES[runtime]
    chosen.import_libraries()
    if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208
        raise RuntimeError("the imports left threads behind: workers cannot be forked")
    gc.freeze()  # so that garbage collection in a worker does not write to shared pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the forks
    orders.sendall(json.dumps({"event": "ready"}).encode() + b"\n")
    for number in itertools.count():
        if number == MANY:
            huge_pages.gather()
        message, descriptors, _, _ = socket.recv_fds(orders, ORDER, DESCRIPTORS)
        if not message:
            os._exit(0)
        try:
            child = os.fork()
        except OSError as error:  # a call may have started too many processes; other calls must go on
            child = -1
            os.write(descriptors[REPORT], json.dumps({"error": f"no process can be forked: {error}"}).encode() + b"\n")
        if child == 0:
            orders.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            order = json.loads(message)
            start = _start_in_sandbox if order["paths"] is None else _start_under_landlock
            start(order, descriptors, chosen)
        for received in descriptors:
            os.close(received)


def _start_in_sandbox(order: dict[str, Any], descriptors: list[int], runtime: Runtime) -> NoReturn:
    """Enter a sandbox, fork the worker into its PID namespace, and report the worker's process ID and exit status."""
    die_with_parent()
    control, output, program, report, pidfd, *entrances = descriptors
    try:
        join_namespaces(pidfd, with_user=order["uid"] is None)
        child = os.fork()
        if child == 0:
            os.close(report)
            for entrance in entrances:
                os.write(entrance, b"0")
            _become_worker(order, control, output, program, runtime)
        os.write(report, json.dumps({"pid": child}).encode() + b"\n")
        for descriptor in (control, output, pidfd, program, *entrances):
            os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(report, json.dumps({"status": status}).encode() + b"\n")
    except OSError as error:
        os.write(report, json.dumps({"error": str(error)}).encode() + b"\n")
    finally:
        os._exit(0)


def _start_under_landlock(order: dict[str, Any], descriptors: list[int], runtime: Runtime) -> NoReturn:
    """Fork the worker, report the ID of this process, and become the worker's supervisor."""
    control, output, program, report = descriptors
    try:
        landlock.contain_descendants()
        child = os.fork()
        if child == 0:
            os.close(report)
            _become_worker(order, control, output, program, runtime)
        os.write(report, json.dumps({"pid": os.getpid()}).encode() + b"\n")
        for descriptor in (control, output, program):
            os.close(descriptor)
        os.set_inheritable(report, True)
        arguments = [order["trusted"], str(report), str(child), order["home"]]
        os.execv(sys.executable, [sys.executable, "-I", "-S", "-B", "-c", SUPERVISOR, *arguments])  # noqa: S606
    except OSError as error:
        os.write(report, json.dumps({"error": str(error)}).encode() + b"\n")
    finally:
        os._exit(0)


def _become_worker(order: dict[str, Any], control: int, output: int, program: int, runtime: Runtime) -> NoReturn:
    """Turn this fork into a worker, with the same state as a worker in a new process, and serve calls."""
    try:
        os.setsid()
        os.close(take_input())  # the sandbox has a /dev/null of its own
        os.dup2(output, 1)
        os.dup2(output, 2)
        code = os.pread(program, 1 << 20, 0)  # not `read`: the harness' descriptor shares the file offset
        os.chdir(order["home"])
        os.environ.update(order["environment"])
        tempfile.tempdir = None  # an import may have stored the zygote's directory
        give_up_privileges(order["uid"])
        die_with_parent()  # after the user has changed, which resets this setting
        if order["paths"] is not None:
            offer_to_kernel()  # before Landlock denies writing to /proc
            landlock.confine(order["paths"])
        filter_system_calls(code)
        directories = map(Path, order["directories"])
        other_processes = order["other_processes"]
        serve(Channel.at_its_place(control), runtime, *directories, other_processes=other_processes)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)
