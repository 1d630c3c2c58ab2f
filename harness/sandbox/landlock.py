"""The sandbox where user namespaces are refused: Landlock rules, a system-call filter and a supervisor per call.

Every call is a fork of a zygote. Its parent, the supervisor, is the ancestor of all that the worker starts, and
ends all of it when it is told to, or when the harness is gone (`harness.worker.supervisor`).
"""

import os
import secrets
import shutil
import socket
import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path

import landlockpy
import psutil

from harness.cache import cache_directory
from harness.errors import UserError
from harness.sandbox import bubblewrap
from harness.sandbox.body import StartError, memory_file
from harness.sandbox.devices import SHARED_NODES
from harness.sandbox.job import Job
from harness.sandbox.limits import Limits
from harness.sandbox.processes import Processes, Tree
from harness.sandbox.seccomp import filter_program
from harness.sandbox.storage import Storage
from harness.sandbox.zygote import Report, Zygote
from harness.worker.scratch import remove

#: The first version of Landlock that keeps signals inside, by which a call is held together (Linux 6.12).
NEEDED = 6

#: Parts of the system that a worker may read and run; those that are there.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives")
DEVICES = ("/dev/null",)
SOURCES = ("/dev/zero", "/dev/urandom", "/dev/random")

#: Seconds that the removal of a scratch directory may take.
REMOVAL_S = 30.0

#: What bubblewrap's sandbox promises and this one does not.
MISSING = (
    "workers of an ordinary user are that user: nothing but Landlock and the filter is before your files and processes",
    "process numbers are the machine's: a call can count what is started before it and beside it",
    "the machine's name is not hidden, nor is the path of your cache",
    "whether a file exists, its size and its times can be asked of any path that a call guesses; its content cannot",
    "reading a file that calls share may leave an access time, which a later call can see",
    "scratch space is on your disk; its size and number of files are watched, not bounded",
    "the memory limit is kept by the watch alone, also where the kernel could keep it",
    "processes of an ordinary user are counted together: a call that starts too many can keep others from starting any",
    "there are no sockets, no /dev/shm, and so no locks of multiprocessing: a measure that needs them is refused",
)


class LandlockBody:
    """A worker, its supervisor, and the scratch directory that they have."""

    def __init__(self, line: socket.socket, scratch: Path, limits: Limits) -> None:
        """Wait for the supervisor's process id; raises `StartError`."""
        self._line, self._scratch, self._limits = line, scratch, limits
        self._report = Report(line.fileno())
        self._free = _free_bytes(scratch)
        self.processes: Processes = Tree(int(self._report.facts["pid"]))

    def storage(self) -> Storage:
        """What is in the scratch directory; and, if the disk has become fuller, in files that have no name there."""
        size, files = measure_directory(str(self._scratch), self._limits.scratch_files)
        with suppress(FileNotFoundError):
            lost = self._free - _free_bytes(self._scratch)
            if lost > self._limits.scratch_bytes:
                size += nameless_bytes(self.processes, str(self._scratch), lost)
        return Storage(size, files)

    def exit_status(self) -> int | None:
        """What the supervisor says of the worker's end."""
        return self._report.exit_status

    def ran_out_of_memory(self) -> bool:
        """The kernel keeps no limit."""
        return False

    def kill(self) -> None:
        """Tell the supervisor to kill everything."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)

    def is_gone(self) -> bool:
        """Whether the supervisor has said so: if it was killed itself, nobody knows."""
        self._report.read()
        return "gone" in self._report.facts

    def close(self) -> None:
        """Wait until the scratch directory is removed, which follows the end of the call."""
        self._line.settimeout(REMOVAL_S)
        with suppress(TimeoutError):  # where a process did not end; `Staging` removes the rest
            while self._line.recv(4096):
                pass
        self._line.close()


def start_under_landlock(
    job: Job, limits: Limits, slot: int, control: int, sink: int, *, zygote: Zygote
) -> LandlockBody:
    """Fork a worker that confines itself; raises `StartError`."""
    uid = bubblewrap.worker_uid(slot)
    scratch = make_scratch(job.worker.parent, uid)
    program = memory_file(filter_program(job.gpu is not None, namespaces=False))
    ours, theirs = socket.socketpair()
    order = {
        "uid": uid,
        "environment": job.environment(home=str(scratch)),
        "home": str(scratch),
        "trusted": str(job.worker),
        "directories": [str(directory) for directory in job.directories[1:]],
        "places": places(job, scratch),
        "other_processes": 0 if uid is not None else user_threads(),
    }
    try:
        try:
            zygote.order(order, [control, sink, program, theirs.fileno()])
        finally:
            theirs.close()
            os.close(program)
        return LandlockBody(ours, scratch, limits)
    except StartError:
        ours.close()
        remove(str(scratch))
        raise


def make_scratch(staging: Path, uid: int | None) -> Path:
    """Make a directory that is the worker's own; where it is another user, it must get there."""
    scratch = staging / secrets.token_hex(8)
    scratch.mkdir(mode=0o700)
    if uid is not None:
        staging.chmod(0o711)
        os.chown(scratch, uid, uid)
    return scratch


def places(job: Job, scratch: Path) -> dict[str, list[str]]:
    """What a worker may reach, by the rights that it has there (`harness.worker.landlock.RIGHTS`)."""
    nodes = [] if job.gpu is None else [f"/dev/nvidia{job.gpu.minor}", *SHARED_NODES]
    described = [] if job.gpu is None else ["/sys", "/proc/driver/nvidia", "/proc/devices"]
    kinds = {
        "run": [*SYSTEM, *map(str, interpreter())],
        "read": [*SETTINGS, *SOURCES, *map(str, job.directories), *described],
        "devices": [*DEVICES, *nodes],
        "scratch": [str(scratch)],
    }
    return {kind: [path for path in paths if Path(path).exists()] for kind, paths in kinds.items()}


def interpreter() -> set[Path]:
    """The environment that runs the harness."""
    return {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent}


def user_threads() -> int:
    """Processes and threads that this user has now, over the whole machine: the kernel counts them together."""
    user, threads = os.getuid(), 0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.uids().real == user:
                threads += process.num_threads()
    return threads


def measure_directory(directory: str, most_files: int) -> tuple[int, int]:
    """Return bytes on the disk and the number of files of a directory that somebody is writing to.

    Counts no further than to one more than `most_files`, which is also the number where a directory cannot be
    looked into, or is too deep.
    """
    size, files, pending = 0, 0, [directory]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                found = list(islice(entries, most_files - files + 1))
        except (FileNotFoundError, NotADirectoryError):  # it was removed meanwhile
            continue
        except OSError:
            return size, most_files + 1
        files += len(found)
        if files > most_files:  # before anything is asked of each: who makes files is as fast as who looks
            break
        size += sum(map(_bytes_on_disk, found))
        pending += [entry.path for entry in found if entry.is_dir(follow_symlinks=False)]
    return size, files


def _bytes_on_disk(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:  # it was removed meanwhile, or is so deep that it will be noticed by that
        return 0


def nameless_bytes(processes: Processes, directory: str, lost: int) -> int:
    """Bytes on the disk of files that processes hold, and that were removed.

    Every thread may hold files of its own. Of what is only mapped, or held by a process that keeps others from looking,
    no size is known: it is then all that the disk has `lost`.
    """
    found: dict[tuple[int, int], int] = {}
    try:
        for entry in processes.entries():
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                for thread in Path(entry, "task").iterdir():
                    for descriptor in (thread / "fd").iterdir():
                        with suppress(FileNotFoundError):
                            state = descriptor.stat()
                            if not state.st_nlink:
                                found[state.st_dev, state.st_ino] = state.st_blocks * 512
                    maps = (thread / "maps").read_text(errors="replace").splitlines()
                    if any(directory in line and line.endswith(" (deleted)") for line in maps):
                        return lost
    except PermissionError:
        return lost
    return sum(found.values())


def _free_bytes(directory: Path) -> int:
    return shutil.disk_usage(directory).free


def landlock_problem() -> UserError | None:
    """Why this sandbox cannot be had here, None if it can; a call of known value is tried before it is used."""
    try:
        filter_program(gpu=False, namespaces=False)
        version = landlockpy.abi_version()
    except UserError as error:
        return error
    except OSError:  # refused by a container's own filter
        version = 0
    if version < NEEDED:
        found = f"version {version}" if version else "none"
        remedy = "boot Linux 6.12 or newer with landlock among its security modules (lsm=)"
        return UserError("Landlock", expected=f"version {NEEDED} or newer", found=found, remedy=remedy)
    return _unreachable() if os.geteuid() == 0 else None


def _unreachable() -> UserError | None:
    """What the users that workers of root become cannot reach."""
    for path in sorted({*interpreter(), cache_directory("staged")}):
        for place in (path, *path.parents):
            if not place.stat().st_mode & 0o001:
                remedy = "run as an ordinary user, or have the Python environment and PGDL_CACHE where others may enter"
                return UserError("workers of root are other users, who may not enter it", file=place, remedy=remedy)
    return None
