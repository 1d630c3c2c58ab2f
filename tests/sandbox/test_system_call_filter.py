"""Tests of the system-call filter on the real kernel: in bubblewrap with and without the filter."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from errno import ENOTSUP, errorcode
from pathlib import Path

import pytest

from harness.sandbox.running_sandbox import memory_file
from harness.sandbox.seccomp import ATTRIBUTES, filter_program

PROBE = Path(__file__).with_name("seccomp_probe.py")
BWRAP = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]

#: Answers to the calls of the probe that the filter does not refuse, or refuses as if the kernel lacked them.
ANSWERS = {
    **dict.fromkeys(
        ["socket of this machine", "die with the harness", "prctl PR_GET_DUMPABLE", "fcntl F_GETFD", "a thread",
         "private memory", "madvise normal"], "fine",
    ),
    # the kernel's own, because of the probe's arguments
    "ioctl TCGETS": "ENOTTY", "type of a socket": "EBADF", "user that sends": "EBADF", "schedule as usual": "EINVAL",
    **dict.fromkeys(ATTRIBUTES, errorcode[ENOTSUP]),  # which `shutil.copystat` accepts
    "lock": "ENOLCK", "wait for a lock": "ENOLCK",
    "preadv2": "ENOSYS", "clone3": "ENOSYS",  # libc then uses preadv and clone
    "a call since Linux 6.5": "ENOSYS",
}  # fmt: skip

#: The kernel's own answers to calls that seem to be missing; an older kernel lacks the last.
OWN = {
    "lock": ["EFAULT"], "wait for a lock": ["EFAULT"], "preadv2": ["EBADF"], "clone3": ["EINVAL"],
    "a call since Linux 6.5": ["EBADF", "ENOSYS"],
    **{call: ["EFAULT", "EBADF"] for call in ATTRIBUTES},
}  # fmt: skip

#: Refused to an ordinary user by many kernels anyway, so that only the filter's own answer can be looked at.
REFUSED_ANYWAY = {"io_uring_setup", "perf_event_open", "userfaultfd", "kcmp", "open_tree"}


def probe(filter_: bytes | None) -> dict[str, str]:
    """Return system call -> result under a filter; None: without a filter."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if platform.machine() != "x86_64":
        pytest.skip("the probe knows the system calls of x86-64 only")
    possible = subprocess.run([*BWRAP, "--", "/bin/true"], capture_output=True, text=True)
    if possible.returncode != 0:
        pytest.skip(f"bubblewrap does not work here: {possible.stderr.strip()}")
    seccomp = () if filter_ is None else (memory_file(filter_),)
    options = [word for descriptor in seccomp for word in ("--seccomp", str(descriptor))]
    done = subprocess.run(
        [*BWRAP, *options, "--", sys.executable, str(PROBE)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, pass_fds=seccomp,
    )  # fmt: skip
    for descriptor in seccomp:
        os.close(descriptor)
    assert done.returncode == 0, done.stderr
    results: dict[str, str] = json.loads(done.stdout)
    return results


def test_every_call_is_refused_but_these_and_by_the_filter() -> None:
    answers, unfiltered = probe(filter_program(gpu=False)), probe(None)
    for call in ("a call of 32 bits", "a call of x32"):
        ended = answers.pop(call)
        assert ended in (str(-signal.SIGSYS), str(-signal.SIGSEGV)), "the latter where the kernel lacks the interface"
    assert answers == dict.fromkeys(answers, "EPERM") | ANSWERS
    refused = answers.keys() - ANSWERS.keys()
    assert len(refused) > 50
    assert {call for call in refused if unfiltered[call] == "EPERM"} <= REFUSED_ANYWAY, "the filter is what refuses it"
    assert {call: unfiltered[call] for call in OWN if unfiltered[call] not in OWN[call]} == {}


def test_cuda_needs_memory_without_a_name() -> None:
    found = probe(filter_program(gpu=True))
    assert found["memfd_create"] == "fine"
    assert found["shared memory without a file"] == "EINVAL", "the kernel's own answer"
    assert found["sysinfo"] == "EFAULT", "the kernel's own answer"
