"""The options by which bubblewrap creates namespaces and mounts for one worker.

docs/security.md lists the guarantees. The harness passes the options through a file descriptor and leaves bubblewrap's
environment empty, because a submission could read arguments and environment in /proc/1.
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

#: Linux capabilities with which the harness can give files to workers, and run workers as other users (CAP_CHOWN,
#: CAP_SETGID, CAP_SETUID).
NEEDED = 1 << 0 | 1 << 6 | 1 << 7

#: First user ID for workers when root runs the harness. The kernel counts a user's processes over the whole
#: machine, so two workers must never share a user, even if they belong to two harnesses.
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
    """Return bubblewrap's options for `job`, and a prefix of the worker's command that changes the user.

    The prefix is empty if the worker runs as the harness' user. `slot` is the number of the sandbox among the
    sandboxes that exist at the same time.
    """
    options = [*_base_options(limits, job.gpu, job.worker), "--dir", "/job"]
    for source, target in zip(job.directories, JOB_DIRECTORIES, strict=True):
        options += ["--ro-bind", str(source), target]
    options += _SEAL
    for name, value in job.environment(home=HOME).items():
        options += ["--setenv", name, value]
    return options, _drop_root(slot)


def worker(runtime: str) -> list[str]:
    """Return the command that starts a worker inside the sandbox."""
    return children.interpreter(BOOTSTRAP, runtime, *JOB_DIRECTORIES, options=("-B", "-u"))


def trial() -> tuple[list[str], list[str]]:
    """Return the two lists that `sandbox` returns, but for a test of bubblewrap: a sandbox without a job."""
    return [*_base_options(Limits(), gpu=None, worker=None), *_SEAL], _drop_root(slot=0)


#: Last options of bubblewrap: they make the root directory read-only and the environment empty.
_SEAL = ("--remount-ro", "/", "--chdir", "/tmp", "--clearenv")


def _base_options(limits: Limits, gpu: Gpu | None, worker: Path | None) -> list[str]:
    files = [] if gpu is None else gpu_files(gpu)
    if gpu is None:  # mounted nodev, so that no worker can open it: its shared mappings escape the memory watch
        nodes = ["--ro-bind", "/dev/zero", "/dev/zero"]
    else:  # CUDA opens /dev/zero, too; a plain bind would mount the device nodes nodev
        nodes = [word for node in gpu_nodes(gpu) for word in ("--dev-bind-try", node, node)]
    devices = [*_scratch(limits), *nodes, "--remount-ro", "/dev"]
    shown = sorted(interpreter()) if gpu is None else [*sorted(interpreter()), *search_path()]
    return [
        *_namespaces(), *_system_mounts(), *hide(worker, files, gpu=gpu is not None), *devices,
        *show(file for file in files if file.startswith("/sys/")),
        *show(str(path) for path in shown if not path.is_relative_to("/usr")),
    ]  # fmt: skip


def _namespaces() -> list[str]:
    """Return bubblewrap's options for namespaces. An ordinary user also needs a user namespace to create the others."""
    shared = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    ends = ["--hostname", "sandbox", "--die-with-parent", "--new-session"]
    if os.geteuid() == 0:
        # Root mounts without a user namespace, since its interpreter may be below a private home directory. The
        # worker keeps only the capabilities to become another user, which it then loses.
        # bubblewrap stays PID 1: if the harness dies, the bubblewrap process outside dies, and the kernel notifies only
        # a PID 1 that is still root. PID 1 reveals nothing, since its environment is empty.
        kept = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"]
        return [*shared, *ends, "--cap-drop", "ALL", *(word for cap in kept for word in ("--cap-add", cap))]
    user = ["--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
    return [*user, *shared, *ends, "--as-pid-1"]  # no bubblewrap process stays inside


def becomes_others() -> bool:
    """Return whether the harness is root with the capabilities `NEEDED`; then each worker runs as a user of its own."""
    return os.geteuid() == 0 and _capabilities() & NEEDED == NEEDED


def _capabilities() -> int:
    found = re.search(rb"^CapEff:\s*([0-9a-f]+)$", Path("/proc/self/status").read_bytes(), re.MULTILINE)
    return int(found[1], 16) if found else 0


def worker_uid(slot: int) -> int | None:
    """Return the user ID of the worker in sandbox number `slot`; None if the worker runs as the harness' user."""
    if not becomes_others():
        return None
    users = int(Path("/proc/self/uid_map").read_bytes().split()[2])
    own = FIRST_UID + (os.getpid() << 8) + slot
    return own if own < users else FIRST_UID_OF_FEW + slot


def _drop_root(slot: int) -> list[str]:
    """Return a prefix with which a command runs as the worker's user; empty if that is the harness' user."""
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
    return [
        "--size", str(limits.shared_memory_bytes), "--perms", "1777", "--tmpfs", "/dev/shm",
        "--size", str(limits.scratch_bytes), "--perms", "1777", "--tmpfs", "/tmp",
    ]  # fmt: skip


def interpreter() -> set[Path]:
    """Return the directories of the Python environment that runs the harness.

    If a `.pth` file adds another environment, the directories of that environment are included. Packages from
    `pip install --user` and PYTHONPATH are not included, because workers do not import them.
    """
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent}
    packages = {Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")}
    own = {Path(site.getusersitepackages()), *map(Path, os.environ.get("PYTHONPATH", "").split(":"))}
    return prefixes | {path for path in packages - own if not any(path.is_relative_to(one) for one in prefixes)}


def executable() -> str:
    """Return the path of bubblewrap. Raise `UserError` if bubblewrap is not installed."""
    path = shutil.which("bwrap")
    if path is None:
        raise UserError("bubblewrap is not installed", remedy="install it, e.g. apt-get install bubblewrap")
    return path
