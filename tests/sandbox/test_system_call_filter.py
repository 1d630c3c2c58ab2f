"""Tests of the system-call filter on the real kernel: in bubblewrap with and without the filter."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sandbox.running_sandbox import memory_file
from harness.sandbox.seccomp import filter_program

PROBE = Path(__file__).with_name("seccomp_probe.py")
BWRAP = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]

REFUSED = [
    "ptrace", "unshare", "setns", "clone into a user namespace", "clone into a mount namespace",
    "clone beside its parent", "shared memory without a file", "shared memory in huge pages", "vmsplice", "splice",
    "tee", "fadvise64", "readahead", "mincore", "madvise cold", "madvise out", "madvise collapse", "madvise mergeable",
    "prctl to merge", "sysinfo", "io_setup", "ustat", "cookie of a socket",
    "socket of the internet", "socket of the kernel", "socket of the machine's host", "memfd_create",
    "memfd_secret", "keyctl", "io_uring_setup", "perf_event_open", "userfaultfd", "process_vm_readv", "kcmp",
    "pidfd_getfd", "mq_open", "open_tree", "name_to_handle_at", "shmget", "semget", "msgget", "ioctl TIOCSTI",
    "ioctl TIOCSTI with high bits", "ioctl TIOCLINUX", "outlive the harness", "outlive the harness with high bits",
    "see a lock", "see a lock of a file", "see a lease", "see a hint", "leave a hint", "leave a hint with high bits",
]  # fmt: skip
ALLOWED = [
    "socket of this machine", "die with the harness", "prctl PR_GET_DUMPABLE", "fcntl F_GETFD", "a thread",
    "private memory", "madvise normal",
]  # fmt: skip

#: Other requests are answered by the kernel itself, with an error for the arguments that the probe gives.
PASSED_ON = dict.fromkeys(ALLOWED, "fine") | {"ioctl TCGETS": "ENOTTY", "type of a socket": "EBADF"}

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


@pytest.fixture(scope="module")
def filtered() -> dict[str, str]:
    return probe(filter_program(gpu=False))


@pytest.fixture(scope="module")
def unfiltered() -> dict[str, str]:
    return probe(None)


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: str, filtered: dict[str, str], unfiltered: dict[str, str]) -> None:
    assert filtered[call] == "EPERM"
    if call not in REFUSED_ANYWAY:
        assert unfiltered[call] != "EPERM", "the filter is what refuses it"


@pytest.mark.parametrize("call", PASSED_ON)
def test_allowed(call: str, filtered: dict[str, str]) -> None:
    assert filtered[call] == PASSED_ON[call]


@pytest.mark.parametrize(
    ("call", "denied", "allowed"),
    [
        ("lock", "ENOLCK", ["EFAULT"]),
        ("wait for a lock", "ENOLCK", ["EFAULT"]),
        ("preadv2", "ENOSYS", ["EBADF"]),  # libc then uses preadv
        ("clone3", "ENOSYS", ["EINVAL"]),  # libc then uses clone
        ("a call since Linux 6.5", "ENOSYS", ["EBADF", "ENOSYS"]),  # the latter on an older kernel
    ],
)
def test_these_calls_seem_to_be_missing(
    call: str, denied: str, allowed: list[str], filtered: dict[str, str], unfiltered: dict[str, str]
) -> None:
    assert filtered[call] == denied
    assert unfiltered[call] in allowed


@pytest.mark.parametrize("call", ["a call of 32 bits", "a call of x32"])
def test_calls_by_a_foreign_abi_kill_the_process(call: str, filtered: dict[str, str]) -> None:
    assert filtered[call] in (str(-signal.SIGSYS), str(-signal.SIGSEGV)), "the latter where the kernel lacks it"


def test_cuda_needs_memory_without_a_name() -> None:
    found = probe(filter_program(gpu=True))
    assert found["memfd_create"] == "fine"
    assert found["shared memory without a file"] == "EINVAL", "the kernel's own answer"
    assert found["sysinfo"] == "EFAULT", "the kernel's own answer"
