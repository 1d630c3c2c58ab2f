"""Imitates, with bubblewrap, containers in which engines such as Docker run root without capabilities.

A container has its own root file system and process IDs, `no-new-privileges`, the machine's network, and the
system-call filter of the engine's default profile.
"""

import errno
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import landlockpy
import pyseccomp
import pytest

from harness.sandbox.kinds.landlock import NEEDED

ROOT = Path(__file__).parents[1]

NEEDS_CONTAINERS = [
    pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("bwrap"), reason="containers need root and bubblewrap"),
    pytest.mark.skipif(landlockpy.abi_version() < NEEDED, reason="this kernel's Landlock is too old"),
]

#: System calls that the default profile of container engines refuses to root without capabilities.
REFUSED = (
    "acct", "add_key", "bpf", "chroot", "clock_adjtime", "clock_settime", "delete_module", "fanotify_init",
    "finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "get_mempolicy", "init_module", "io_uring_enter",
    "io_uring_register", "io_uring_setup", "ioperm", "iopl", "kcmp", "kexec_file_load", "kexec_load", "keyctl", "mbind",
    "mount", "mount_setattr", "move_mount", "move_pages", "open_by_handle_at", "open_tree", "perf_event_open",
    "pidfd_getfd", "pivot_root", "quotactl", "reboot", "request_key", "set_mempolicy", "setdomainname", "sethostname",
    "setns", "settimeofday", "swapoff", "swapon", "syslog", "umount2", "unshare", "userfaultfd", "vhangup",
)  # fmt: skip
NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)


def engines_profile() -> int:
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in REFUSED:
        rules.add_rule(pyseccomp.ERRNO(errno.EPERM), name)
    for flag in NAMESPACES:
        rules.add_rule(pyseccomp.ERRNO(errno.EPERM), "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    descriptor = os.memfd_create("profile", 0)
    with os.fdopen(os.dup(descriptor), "wb") as stream:
        rules.export_bpf(stream)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@dataclass
class Container:
    process: subprocess.Popen[str]
    log: Path

    def end(self) -> int:
        return self.process.wait()


def start(command: str, volumes: dict[Path, str], log: Path, *, data: Path) -> Container:
    """Start a command in /app/program of a new container; `volumes` are writable, `data` is read-only at /app/data."""
    image = [path for path in {sys.prefix, sys.base_prefix, str(ROOT)} if not path.startswith("/usr/")]
    tools = log.parent / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "pgdl").write_text(f'#!/bin/sh\nexec {sys.executable} -m pgdl "$@"\n')
    (tools / "pgdl").chmod(0o755)
    profile = engines_profile()
    arguments = [
        "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--hostname", "container", "--die-with-parent",
        "--new-session", "--cap-drop", "ALL",
        "--ro-bind", "/usr", "/usr",
        *(word for name in ("bin", "sbin", "lib", "lib64") for word in ("--symlink", f"usr/{name}", f"/{name}")),
        "--dir", "/etc", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--tmpfs", "/tmp",
        *(word for path in sorted(image) for word in ("--ro-bind", path, path)),
        "--ro-bind", str(tools), "/opt/tools", "--proc", "/proc", "--dev", "/dev",
        *(word for path, place in volumes.items() for word in ("--bind", str(path), place)),
        "--ro-bind", str(data), "/app/data",
        "--chdir", "/app/program", "--clearenv", "--setenv", "PYTHONUNBUFFERED", "1", "--setenv", "HOME", "/tmp",
        "--setenv", "PATH", "/opt/tools:/usr/bin:/bin", "--setenv", "PYTHONPATH", str(ROOT),
        "--setenv", "OPENBLAS_NUM_THREADS", "1", "--setenv", "TF_NUM_INTRAOP_THREADS", "1",
        "--seccomp", str(profile), "--", *shlex.split(command),
    ]  # fmt: skip
    with log.open("w") as stream:
        process = subprocess.Popen(
            ["bwrap", *arguments], stdout=stream, stderr=subprocess.STDOUT, pass_fds=[profile], text=True
        )
    os.close(profile)
    return Container(process, log)
