"""A stand-in of Codabench's compute worker: folders, commands and containers as the platform has them.

Read from `compute_worker/compute_worker.py` of revision c7dbc756; comments name its lines. A container is bubblewrap's,
started by root: a root file system of its own, root without capabilities (all that an engine grants are dropped, 963),
`no-new-privileges` (981), a PID namespace, the network of the machine, and the system calls that an engine's default
profile refuses.
"""

import errno
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import landlockpy
import pyseccomp
import pytest
import yaml

from harness.sandbox.kinds.landlock import NEEDED

ROOT = Path(__file__).parents[2]

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
    """Return a descriptor of the filter."""
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
    """A running container."""

    process: subprocess.Popen[str]
    log: Path

    def end(self) -> int:
        """Wait for its end, and return its exit status."""
        return self.process.wait()


def start(command: str, volumes: dict[Path, str], log: Path, *, data: Path) -> Container:
    """Start a command in a container of the image (1036), whose root file system nothing else has."""
    image = [path for path in {sys.prefix, sys.base_prefix, str(ROOT)} if not path.startswith("/usr/")]
    tools = log.parent / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "pgdl").write_text(f'#!/bin/sh\nexec {sys.executable} -m harness.cli "$@"\n')
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


@dataclass
class Ended:
    """What the platform has of a submission in the end.

    The platform often loses the logs of steps: `log` is for messages of tests alone.
    """

    status: str
    output: Path  #: of the scoring step
    log: str
    prediction: Path  #: the archive that can be downloaded
    scores: dict[str, Any] = field(default_factory=dict)

    @property
    def report(self) -> str:
        """The page that the platform shows in a frame."""
        return (self.output / "detailed_results.html").read_text()


class Worker:
    """Runs submissions on the phases of a bundle; `directory` is its own.

    A time limit is not kept: a container that prints nothing blocks the loop that would see it (732).
    """

    def __init__(self, bundle: Path, directory: Path) -> None:
        self._bundle, self._directory, self._data = directory / "bundle", directory, directory / "data"
        self._data.mkdir(exist_ok=True)
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(self._bundle)
        self._content = yaml.safe_load((self._bundle / "competition.yaml").read_text())

    def run(self, phase: int, submission: Path, killed_after_s: float | None = None) -> Ended:
        """Run a submission, a zip archive, through both steps; the machine may kill the ingestion program."""
        (index,) = self._content["phases"][phase]["tasks"]
        task = next(one for one in self._content["tasks"] if one["index"] == index)
        root = Path(tempfile.mkdtemp(dir=self._directory))
        log = self._predict(task, submission, root / "prediction", killed_after_s)
        archive = Path(shutil.make_archive(str(root / "prediction_result"), "zip", root / "prediction/output"))
        return self._score(task, archive, root / "scoring", log)

    def _predict(self, task: dict[str, Any], submission: Path, root: Path, killed_after_s: float | None) -> str:
        for part, place in (("ingestion_program", "ingestion_program"), ("input_data", "input_data")):
            self._unpack(self._bundle / task[part], root / place)
        self._unpack(submission, root / "program")
        metadata = next((root / "program" / name for name in ("metadata.yaml", "metadata")
                         if (root / "program" / name).exists()), None)  # fmt: skip
        if metadata is None:  # (859) its files are copied into the output
            shutil.copytree(root / "program", root / "output")
        (root / "output").mkdir(exist_ok=True)
        shared = {root / "output": "/app/output", root / "input_data": "/app/input_data"}
        if own := command_of(metadata) if metadata is not None else None:
            # (889) A submission's own command, which may end before the ingestion program starts (732).
            start(own, shared | {root / "program": "/app/program"}, root / "own.txt", data=self._data).end()
        volumes = shared | {root / "ingestion_program": "/app/program", root / "program": "/app/ingested_program"}
        command = command_of(root / "ingestion_program/metadata.yaml")
        assert command is not None
        container = start(command, volumes, root / "log.txt", data=self._data)
        with suppress(subprocess.TimeoutExpired):
            container.process.wait(killed_after_s)
        container.process.kill()
        container.end()
        assert not (root / "output/metadata").exists(), "(1359) the submission would fail"
        (root / "output/metadata").write_text(yaml.safe_dump({"exitCode": container.end()}))  # and goes on
        return (root / "log.txt").read_text()

    def _score(self, task: dict[str, Any], prediction: Path, root: Path, log: str) -> Ended:
        for part, place in (("scoring_program", "program"), ("reference_data", "input/ref")):
            self._unpack(self._bundle / task[part], root / place)
        self._unpack(prediction, root / "input/res")
        for name in ("output", "shared"):
            (root / name).mkdir()
        volumes = {root / "program": "/app/program", root / "output": "/app/output", root / "shared": "/app/shared",
                   root / "input": "/app/input"}  # fmt: skip
        command = command_of(root / "program/metadata.yaml")
        assert command is not None
        container = start(command, volumes, root / "log.txt", data=self._data)
        failed = container.end() != 0
        log += (root / "log.txt").read_text()
        scores = root / "output/scores.json"
        if failed or not scores.exists():  # (1296, 1328)
            return Ended("Failed", root / "output", log, prediction)
        found = yaml.safe_load(scores.read_text())
        keys = {column["key"] for column in self._content["leaderboards"][0]["columns"]}
        assert found.keys() <= keys, "(api/views/submissions.py:581) others are ignored"
        return Ended("Finished", root / "output", log, prediction, found)

    @staticmethod
    def _unpack(archive: Path, place: Path) -> None:
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(place)


def command_of(metadata: Path) -> str | None:
    """Return the command in a program's metadata (867), None without any."""
    try:
        content = yaml.load(metadata.read_text(), Loader=yaml.FullLoader)
    except yaml.YAMLError:
        return None
    return content.get("command") if isinstance(content, dict) else None
