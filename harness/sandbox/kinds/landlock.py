"""The kind of sandbox for machines without user namespaces: Landlock, a system-call filter, a supervisor per call.

Every worker is forked from a process that has imported the framework. The worker's parent is a supervisor, the ancestor
of all processes of the call. The supervisor kills these processes on request, or when the harness ends
(`harness.worker.supervisor`).
"""

import os
import shutil
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from harness.cache import cache_directory
from harness.errors import UserError
from harness.sandbox import bubblewrap
from harness.sandbox.bubblewrap import becomes_others
from harness.sandbox.devices import gpu_files, gpu_nodes, search_path
from harness.sandbox.job import Job, Launch
from harness.sandbox.kinds.kind import Kind
from harness.sandbox.processes import Tree
from harness.sandbox.running_sandbox import RunningSandbox, StartError, Storage
from harness.sandbox.scratch import make_scratch, measure_directory, nameless_bytes
from harness.sandbox.seccomp import filter_program
from harness.sandbox.zygote import WorkerReport, Zygote, Zygotes
from harness.worker.scratch import remove

#: The first version of Landlock that can restrict signals (Linux 6.12), so that a supervisor kills only its call.
NEEDED = 6

#: System directories that a worker may read and execute, if they exist.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/proc/cpuinfo")  # XLA fails without the last
DEVICES = ("/dev/null",)
SOURCES = ("/dev/zero", "/dev/urandom", "/dev/random")

#: Files of a call with a GPU, in addition to `harness.sandbox.devices`: a device node that CUDA opens if it exists, and
#: the list with the number of the node nvidia-uvm.
GPU_NODES = ("/dev/nvidia-uvm-tools",)
GPU_FILES = ("/proc/devices",)

#: Directories in which CUDA searches for files of `harness.sandbox.devices.FILES`.
GPU_LISTS = ("/sys/devices/system/node",)

#: The worker's directory of threads in /proc, to which CUDA writes the names of its threads.
THREADS = "/proc/self/task"

#: Seconds that the removal of a scratch directory may take.
REMOVAL_S = 30.0

#: Promises of bubblewrap's sandbox that Landlock does not keep.
MISSING = (
    "if an ordinary user runs the harness, or root without capabilities, workers run as this user: only Landlock and "
    "the filter of system calls protect your files and processes",
    "process IDs are the machine's: a call can count the processes that start before it and during it, see when a "
    "process ends, and read its scheduling policy and its set of processors",
    "the machine's name is not hidden, nor are the path of your cache and the present clock rates of the processors",
    "a call can ask for the existence, size, times, owner and mode of any file whose path it guesses, and for the "
    "target of a link, but not for a file's content",
    "reading a file that calls share may update its access time, which a later call can see",
    "scratch space is on your disk; its size and number of files are watched, not bounded",
    "the memory watch alone enforces the memory limit, even where the kernel could enforce it",
    "if root without capabilities runs the harness, the number of a call's processes is watched, not bounded",
    "if an ordinary user runs the harness, all processes of this user are counted together: a call that starts too "
    "many can keep other calls from starting any",
    "there are no sockets, no /dev/shm, and so no locks of multiprocessing: a measure that needs them is refused",
)


class Landlock(Kind):
    """Starts workers that are confined by Landlock rules and a system-call filter."""

    name = "landlock"
    summary = "a sandbox that promises less, where user namespaces are refused"
    isolation = "landlock"
    missing = MISSING

    def __init__(self) -> None:
        self._zygotes = Zygotes()

    def problem(self) -> UserError | None:
        """Return why the kernel's Landlock does not suffice; None if it suffices. No test call is made."""
        try:
            filter_program(gpu=False, namespaces=False)
            import landlockpy  # here: it exists only for Linux

            version = landlockpy.abi_version()
        except UserError as error:
            return error
        except OSError:  # a container's own filter refuses it
            version = 0
        if version < NEEDED:
            found = f"version {version}" if version else "none"
            remedy = "boot Linux 6.12 or newer with landlock among its security modules (lsm=)"
            return UserError("Landlock", expected=f"version {NEEDED} or newer", found=found, remedy=remedy)
        return _inaccessible() if becomes_others() else None

    def expect(self, trials: Sequence[Job]) -> None:
        """For each runtime of `trials`, start the process that forks workers, without waiting for its imports."""
        self._zygotes.begin(trials)

    def prepare(self, trials: Sequence[Job]) -> None:
        """For each runtime, start the process that forks workers, and make a test call. Raise `UserError` on error."""
        try:
            self._zygotes.start(trials, self.start)
        except StartError as error:
            raise UserError(f"the sandbox does not work here: {error}", remedy="see pgdl help sandbox") from error

    def start(self, launch: Launch) -> "SupervisedSandbox":
        """Fork a worker that confines itself by Landlock. Raise `StartError` if that fails."""
        sandbox = self._zygotes.fork(launch.job, lambda zygote: SupervisedSandbox(zygote, launch))
        if sandbox is None:
            raise StartError("the process from which workers are forked was ended twice")
        return sandbox

    def close(self) -> None:
        """End the processes from which workers are forked."""
        self._zygotes.close()

    def shown(self) -> frozenset[Path]:
        """Return the directories of the system and of the Python environment, which every worker can read."""
        paths = [*map(Path, (*SYSTEM, *SETTINGS)), *bubblewrap.interpreter(), *search_path()]
        return frozenset(path.resolve() for path in paths if path.exists())


def granted_paths(job: Job, scratch: Path) -> dict[str, list[str]]:
    """Return right (a key of `harness.worker.landlock.RIGHTS`) -> existing paths for which a worker has this right."""
    kinds = {
        "run": [*SYSTEM, *map(str, bubblewrap.interpreter())],
        "read": [*SETTINGS, *SOURCES, *map(str, job.directories)],
        "devices": [*DEVICES],
        "scratch": [str(scratch)],
    }
    if job.gpu is not None:
        kinds["run"] += map(str, search_path())
        kinds["read"] += [*GPU_FILES, *gpu_files(job.gpu)]
        kinds["devices"] += [*GPU_NODES, *gpu_nodes(job.gpu)]
        kinds |= {"list": [*GPU_LISTS], "threads": [THREADS]}
    return {kind: [path for path in paths if Path(path).exists()] for kind, paths in kinds.items()}


def user_threads() -> int:
    """Return the number of this user's threads on the whole machine. The kernel's limit is on all of them together."""
    user, threads = os.getuid(), 0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.uids().real == user:
                threads += process.num_threads()
    return threads


def _inaccessible() -> UserError | None:
    """Return an error if workers of root, which run as other users, cannot enter Python's directories or the cache."""
    for path in sorted({*bubblewrap.interpreter(), cache_directory("staged")}):
        for directory in (path, *path.parents):
            if not directory.stat().st_mode & 0o001:
                remedy = "run as an ordinary user, or move the Python environment and PGDL_CACHE where others may enter"
                return UserError("root's workers are other users, which cannot enter it", file=directory, remedy=remedy)
    return None


class SupervisedSandbox(RunningSandbox):
    """A worker under Landlock, with the call's supervisor and scratch directory."""

    def __init__(self, zygote: Zygote, launch: Launch) -> None:
        """Fork a worker, and wait for its supervisor. Raise `StartError` if that fails."""
        job, uid = launch.job, bubblewrap.worker_uid(launch.slot)
        self._limits, self._scratch = launch.limits, make_scratch(job.worker.parent, uid)
        trusted, *directories = map(str, job.directories)
        paths, others = granted_paths(job, self._scratch), 0 if uid is not None else user_threads()
        self._line, theirs = socket.socketpair()
        try:
            zygote.fork(
                launch, str(self._scratch), theirs.detach(),
                trusted=trusted, directories=directories, paths=paths, other_processes=others,
            )  # fmt: skip
            self._report = WorkerReport(self._line.fileno(), zygote)
        except StartError:
            self._line.close()
            remove(str(self._scratch))
            raise
        self._free = shutil.disk_usage(self._scratch).free
        self.processes = Tree(int(self._report.facts["pid"]))

    def storage(self) -> Storage:
        """Return the use of the scratch directory.

        If the disk has lost much free space, deleted files that processes still hold open count, too.
        """
        size, files = measure_directory(str(self._scratch), self._limits.scratch_files)
        with suppress(FileNotFoundError):
            lost = self._free - shutil.disk_usage(self._scratch).free
            if lost > self._limits.scratch_bytes:
                size += nameless_bytes(self.processes, str(self._scratch), lost)
        return Storage(size, files)

    def exit_status(self) -> int | None:
        """Return the worker's exit status as reported by the supervisor."""
        return self._report.exit_status

    def kill(self) -> None:
        """Let the supervisor kill all processes of the call."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)

    def is_gone(self) -> bool:
        """Return whether the supervisor has reported the end of all processes. A killed supervisor reports nothing."""
        self._report.read()
        return "gone" in self._report.facts

    def close(self) -> None:
        """Wait up to `REMOVAL_S` seconds until the supervisor has removed the scratch directory."""
        self._line.settimeout(REMOVAL_S)
        with suppress(TimeoutError):  # a process did not end; `Staging` removes the directory later
            while self._line.recv(4096):
                pass
        self._line.close()
