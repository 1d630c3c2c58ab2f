"""Tests of the rules and the filter of the Landlock sandbox, with operations on the real kernel."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import landlockpy
import pyseccomp
import pytest

from harness.sandbox.bubblewrap import interpreter
from harness.sandbox.kinds.landlock import NEEDED, SYSTEM
from harness.sandbox.seccomp import filter_program

#: Requests to a file system, and to whatever can be read.
FS_IOC_GETFLAGS, FIONREAD = 0x80086601, 0x541B

pytestmark = pytest.mark.skipif(landlockpy.abi_version() < NEEDED, reason="this kernel's Landlock is too old")

#: Confines itself, then tries each expression; prints the expressions that were refused with a system error.
PROBE = """
import ctypes, fcntl, json, os, resource, shutil, signal, socket, sys, threading, time
from harness.worker.confinement import filter_system_calls, give_up_privileges
from harness.worker.landlock import confine
order = json.loads(sys.argv[1])
own, parent = os.getpid(), os.getppid()
give_up_privileges(None)
confine(order["places"])
if order["filter"]:
    filter_system_calls(bytes.fromhex(order["filter"]))
def call(*numbers):
    if ctypes.CDLL(None).syscall(*numbers, bytes(64), 48, 0) < 0:
        raise OSError
def refused(expression):
    try:
        eval(expression)
    except OSError:
        return True
    return False
print(json.dumps({expression: refused(expression) for expression in order["tries"]}))
"""


def refusals(places: dict[str, list[str]], tries: list[str], program: bytes = b"") -> dict[str, bool]:
    """Return expression -> whether it fails in a process with access to these places only, and with this filter."""
    needed = {"run": [path for path in (*SYSTEM, *map(str, interpreter())) if Path(path).exists()]}
    order = json.dumps({"places": needed | places, "tries": tries, "filter": program.hex()})
    done = subprocess.run([sys.executable, "-c", PROBE, order], capture_output=True, text=True, cwd=Path.cwd())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def number(name: str) -> int:
    """Return the number of a system call on this machine."""
    return pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Any]:
    for name in ("read", "scratch", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("#!/bin/sh\n")
        (tmp_path / name / "file").chmod(0o755)
    return {"read": [f"{tmp_path}/read"], "scratch": [f"{tmp_path}/scratch"]}


def test_files_processes_and_signals(tmp_path: Path, places: dict[str, list[str]]) -> None:
    expected = {
        f"open('{tmp_path}/read/file')": False,
        f"os.listdir('{tmp_path}/read')": False,
        f"open('{tmp_path}/read/file', 'a')": True,
        f"open('{tmp_path}/read/new', 'w')": True,
        f"os.truncate('{tmp_path}/read/file', 0)": True,
        f"os.unlink('{tmp_path}/read/file')": True,
        f"os.mkdir('{tmp_path}/read/new')": True,
        f"open('{tmp_path}/other/file')": True,
        f"os.listdir('{tmp_path}/other')": True,
        f"os.listdir('{tmp_path}')": True,
        f"os.link('{tmp_path}/other/file', '{tmp_path}/scratch/link')": True,
        f"os.rename('{tmp_path}/read/file', '{tmp_path}/scratch/moved')": True,
        f"open('{tmp_path}/scratch/new', 'w').write('x')": False,
        f"os.mkdir('{tmp_path}/scratch/below')": False,
        f"os.posix_spawn('{tmp_path}/scratch/file', ['file'], {{}})": True,
        f"os.symlink('{tmp_path}/other/file', '{tmp_path}/scratch/way') or open('{tmp_path}/scratch/way')": True,
        f"os.unlink('{tmp_path}/scratch/new')": False,
        "open('/dev/shm/pgdl-test', 'w')": True,
        "open('/tmp/pgdl-test', 'w')": True,
        "os.posix_spawn('/bin/true', ['true'], {})": False,
        "open('/proc/self/status').read()": False,
        "os.listdir('/proc/self/fd')": False,
        "os.listdir('/proc')": True,
        "open(f'/proc/{parent}/environ')": True,
        "open(f'/proc/{parent}/mem')": True,
        "open('/proc/self/environ')": True,
        "open('/proc/self/net/unix')": True,
        "open('/proc/self/mountinfo')": True,
        "os.listdir('/sys')": True,
        "open('/etc/passwd')": True,
        "os.kill(parent, 0)": True,
        "os.kill(own, 0)": False,
        "signal.pidfd_send_signal(os.pidfd_open(parent), 0)": True,
    }
    assert refusals(places, list(expected)) == expected


def test_the_filter(tmp_path: Path, places: dict[str, list[str]]) -> None:
    own = f"{tmp_path}/scratch/file"
    expected = {
        "socket.socket(socket.AF_UNIX)": True,
        "socket.socket(socket.AF_INET)": True,
        "socket.socketpair()": True,
        f"os.chmod('{own}', 0o777)": True,
        f"os.chmod('{tmp_path}/other/file', 0o777)": True,
        f"os.chown('{own}', -1, os.getgid())": True,
        f"os.utime('{tmp_path}/other/file')": True,
        f"os.setxattr('{tmp_path}/other/file', 'user.mark', b'x')": True,
        f"os.listxattr('{tmp_path}/other/file')": True,
        "os.pidfd_open(own)": True,
        "os.getsid(parent)": True,
        "os.getsid(0)": False,
        "os.getpgid(parent)": True,
        "os.getpgid(0)": False,
        "os.getpriority(os.PRIO_PROCESS, parent)": True,
        "os.getpriority(os.PRIO_USER, 0)": True,
        "os.getpriority(os.PRIO_PROCESS, 0)": False,
        "os.sched_rr_get_interval(parent)": True,
        "os.sched_rr_get_interval(0)": False,
        f"call({number('ioprio_get')}, 1, parent)": True,
        f"call({number('ioprio_get')}, 1, 0)": False,
        f"call({number('sched_getattr')}, parent)": True,
        f"call({number('sched_getattr')}, 0)": False,
        "time.clock_gettime(~parent << 3 | 2)": True,
        "time.clock_getres(~parent << 3 | 2)": True,
        "time.process_time()": False,
        "time.thread_time()": False,
        "time.clock_gettime(time.pthread_getcpuclockid(threading.get_ident()))": False,
        f"fcntl.ioctl(os.open('{own}', os.O_RDONLY), {FS_IOC_GETFLAGS}, bytes(8))": True,
        f"fcntl.ioctl(os.open('{own}', os.O_RDONLY), {FIONREAD}, bytes(4))": False,
        "resource.prlimit(parent, resource.RLIMIT_NOFILE, (64, 64))": True,
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))": False,
        "os.setpriority(os.PRIO_PROCESS, parent, 19)": True,
        "os.setpriority(os.PRIO_USER, 0, 19)": True,
        "os.sched_setaffinity(parent, {0})": True,
        "os.sched_setaffinity(0, os.sched_getaffinity(0))": False,
        "os.sched_getaffinity(threading.get_native_id())": False,
        "os.sched_getscheduler(threading.get_native_id())": False,
        "os.sched_getparam(threading.get_native_id())": False,
        "os.sched_setscheduler(parent, os.SCHED_OTHER, os.sched_param(0))": True,
        "os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))": False,
    }
    assert refusals(places, list(expected), filter_program(gpu=False, namespaces=False)) == expected


def test_bubblewraps_filter_has_none_of_that(tmp_path: Path, places: dict[str, list[str]]) -> None:
    own = f"{tmp_path}/scratch/file"
    copied, same = f"shutil.copy2('{own}', '{own}.copy')", "os.getsid(parent)"
    tries = ["socket.socket(socket.AF_UNIX)", f"os.chmod('{own}', 0o700)", copied, same]
    assert not any(refusals(places, tries, filter_program(gpu=False)).values())
    assert os.access(tmp_path / "scratch" / "file", os.X_OK)
