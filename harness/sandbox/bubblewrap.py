"""The command line of the sandbox: bubblewrap's namespaces and mounts around one worker.

Comments give the reason for each part; docs/security.md lists the guarantees. The options travel through
a file descriptor and bubblewrap's own environment is empty, because the sandbox could read both through
/proc/1.
"""

import os
import re
import shutil
import site
import sys
from pathlib import Path

from harness import children
from harness.errors import UserError
from harness.gpus import Gpu
from harness.sandbox.devices import gpu_files, gpu_nodes, search_path
from harness.sandbox.job import BOOTSTRAP, Job, Limits
from harness.sandbox.proc import hide, show

#: Capabilities to give a file away, and to change group and user (CAP_CHOWN, CAP_SETGID, CAP_SETUID).
NEEDED = 1 << 0 | 1 << 6 | 1 << 7

#: First user ID for workers when root runs the harness. The kernel counts a user's processes over the whole
#: machine, so no two workers may share a user, not even workers of two harnesses that run concurrently.
FIRST_UID = 1 << 30

#: First user ID for workers inside a container whose user namespace maps few IDs.
FIRST_UID_OF_FEW = 64000

#: Mount points of the staged directories, in the order of the worker's arguments.
JOB_DIRECTORIES = ("/job/trusted", "/job/submission", "/job/model", "/job/data")

#: Home directory and scratch space inside the sandbox.
HOME = "/tmp"

#: All writable mount points inside the sandbox.
SCRATCH = ("/tmp", "/dev/shm")


def sandbox(job: Job, limits: Limits, slot: int) -> tuple[list[str], list[str]]:
    """Return bubblewrap's options for `job`, and the prefix of a command that runs in the sandbox.

    `slot` numbers the sandboxes that exist at once.
    """
    options = [*_base_options(limits, job.gpu, job.worker), *_job_mounts(job), *_SEAL]
    for name, value in job.environment(home=HOME).items():
        options += ["--setenv", name, value]
    return options, _drop_root(slot)


def worker(runtime: str) -> list[str]:
    """Return the command that starts a worker inside the sandbox; its standard input is the control channel."""
    return children.interpreter(BOOTSTRAP, runtime, *JOB_DIRECTORIES, options=("-B", "-u"))


def trial() -> tuple[list[str], list[str]]:
    """Return options and command prefix of a sandbox without a job, to test whether sandboxes work here."""
    return [*_base_options(Limits(), gpu=None, worker=None), *_SEAL], _drop_root(slot=0)


#: Options that seal the sandbox once everything is mounted.
_SEAL = ("--remount-ro", "/", "--chdir", "/tmp", "--clearenv")


def _base_options(limits: Limits, gpu: Gpu | None, worker: Path | None) -> list[str]:
    """Return the options that do not depend on the job's files; `worker` is the staged worker code, if any."""
    files = [] if gpu is None else gpu_files(gpu)
    if gpu is None:  # a shared mapping of it escapes the memory watch, so it is mounted nodev and cannot be opened
        nodes = ["--ro-bind", "/dev/zero", "/dev/zero"]
    else:  # CUDA needs it; a plain bind would mount the device nodes nodev, too
        nodes = [word for node in gpu_nodes(gpu) for word in ("--dev-bind-try", node, node)]
    devices = [*_scratch(limits), *nodes, "--remount-ro", "/dev"]
    shown = sorted(interpreter()) if gpu is None else [*sorted(interpreter()), *search_path()]
    return [
        *_namespaces(), *_system_mounts(), *hide(worker, files, gpu=gpu is not None), *devices,
        *show(file for file in files if file.startswith("/sys/")),
        *show(str(path) for path in shown if not path.is_relative_to("/usr")),
    ]  # fmt: skip


def _namespaces() -> list[str]:
    """Return options for every available namespace; an unprivileged caller needs a user namespace to create them."""
    shared = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    ends = ["--hostname", "sandbox", "--die-with-parent", "--new-session"]
    if os.geteuid() == 0:
        # Real root mounts without a user namespace (its interpreter may lie under a private home). It keeps
        # only the capabilities needed to become the worker's user, and loses these when it does.
        # bubblewrap stays PID 1: if the harness dies, bubblewrap outside dies, and only PID 1, still root,
        # can be notified of that. PID 1 reveals nothing: its environment is empty.
        kept = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"]
        return [*shared, *ends, "--cap-drop", "ALL", *(word for cap in kept for word in ("--cap-add", cap))]
    user = ["--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
    return [*user, *shared, *ends, "--as-pid-1"]  # no bubblewrap process stays inside


def becomes_others() -> bool:
    """Whether workers run as other users: the harness is root, with the capabilities, which containers may drop."""
    return os.geteuid() == 0 and _capabilities() & NEEDED == NEEDED


def _capabilities() -> int:
    """Return the effective capabilities of this process, as bits."""
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1], 16) if found else 0


def worker_uid(slot: int) -> int | None:
    """Return the user ID of a worker; None if it keeps the caller's ID, which a user namespace hides."""
    if not becomes_others():
        return None
    users = int(Path("/proc/self/uid_map").read_text().split()[2])
    own = FIRST_UID + (os.getpid() << 8) + slot
    return own if own < users else FIRST_UID_OF_FEW + slot


def _drop_root(slot: int) -> list[str]:
    """Return the command prefix that turns root's worker into an ordinary user; empty for an ordinary caller."""
    uid = worker_uid(slot)
    if uid is None:
        return []
    user = str(uid)
    return [
        "/usr/bin/setpriv", "--reuid", user, "--regid", user, "--clear-groups",
        "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--",
    ]  # fmt: skip


def _system_mounts() -> list[str]:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            arguments += ["--ro-bind", str(path), str(path)]
    arguments += ["--dir", "/etc"]
    for optional in ("/etc/ld.so.cache", "/etc/alternatives"):
        arguments += ["--ro-bind-try", optional, optional]
    return [*arguments, "--proc", "/proc", "--dev", "/dev"]


def _scratch(limits: Limits) -> list[str]:
    """Return options for the writable file systems: in memory, each of bounded size."""
    return [
        "--size", str(limits.shared_memory_bytes), "--perms", "1777", "--tmpfs", "/dev/shm",
        "--size", str(limits.scratch_bytes), "--perms", "1777", "--tmpfs", "/tmp",
    ]  # fmt: skip


def interpreter() -> set[Path]:
    """Return the directories of the Python environment that runs the harness, often below a home directory.

    They include packages of another environment that this environment extends by a `.pth` file, but no packages of the
    user (`pip install --user`, PYTHONPATH), because workers do not import them.
    """
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent}
    packages = {Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")}
    own = {Path(site.getusersitepackages()), *map(Path, os.environ.get("PYTHONPATH", "").split(":"))}
    return prefixes | {path for path in packages - own if not any(path.is_relative_to(one) for one in prefixes)}


def _job_mounts(job: Job) -> list[str]:
    arguments = ["--dir", "/job"]
    for source, target in zip(job.directories, JOB_DIRECTORIES, strict=True):
        arguments += ["--ro-bind", str(source), target]
    return arguments


def executable() -> str:
    """Return the path of bubblewrap; raises `UserError` if it is not installed."""
    path = shutil.which("bwrap")
    if path is None:
        raise UserError("bubblewrap is not installed", remedy="install it, e.g. apt-get install bubblewrap")
    return path
