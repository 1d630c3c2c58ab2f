"""The kind of sandbox `fresh`: bubblewrap's sandbox, with a new interpreter for every call."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import IO

from harness import children
from harness.errors import UserError
from harness.sandbox import bubblewrap
from harness.sandbox.cgroup import NoCgroupError, RunGroup
from harness.sandbox.devices import search_path
from harness.sandbox.job import Job, Launch, Limits
from harness.sandbox.kinds.kind import Kind
from harness.sandbox.processes import Namespace
from harness.sandbox.running_sandbox import RunningSandbox, StartError, Storage, memory_file, shell_status
from harness.sandbox.seccomp import filter_program
from harness.worker.limits import limit_process

#: Remedy if bubblewrap fails inside a container.
IN_A_CONTAINER = (
    "run the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined, and as an ordinary user (--user)"
)

#: Remedies for failures of bubblewrap, by a part of its error message.
REMEDIES = (
    (
        "setting up uid map: Permission denied",
        "allow it in AppArmor: apt-get install apparmor-profiles, copy "
        "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d, load it with apparmor_parser -r "
        "(on a CI runner: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0)",
    ),
    (
        "Failed RTM_NEWADDR",
        "on Ubuntu allow it in AppArmor (on a CI runner: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0); "
        f"in a container, {IN_A_CONTAINER}",
    ),
    (
        "No permissions to create",
        f"allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1; or, in a container, {IN_A_CONTAINER}",
    ),
    ("Can't mount proc", IN_A_CONTAINER),
    ("Can't set hostname", IN_A_CONTAINER),
    ("Unknown option", "install bubblewrap 0.8 or newer"),
)


class Fresh(Kind):
    """A sandbox of namespaces, a read-only view of few files, a system-call filter and, if possible, a cgroup."""

    name = "fresh"
    summary = "a new process in a new sandbox"
    isolation = "bubblewrap"

    def __init__(self) -> None:
        self.groups: RunGroup | None = None  #: control group of the run; None if the kernel allows no groups

    @property
    def name_in_records(self) -> str:
        """The sandbox's name in records, `bubblewrap/fresh`."""
        return f"{self.isolation}/{self.name}"

    def problem(self) -> UserError | None:
        """Start an empty sandbox with a call's namespaces, mounts and filter. Return why the start fails, or None."""
        try:
            if os.geteuid() == 0 and shutil.which("setpriv") is None:
                remedy = "install util-linux, e.g. apt-get install util-linux"
                return UserError("setpriv is not installed", remedy=remedy)
            program = bubblewrap.executable()
            options, wrapper = bubblewrap.trial()
            seccomp = memory_file(filter_program(gpu=False))
        except UserError as error:
            return error
        command = [program, *options, "--seccomp", str(seccomp), "--", *wrapper, "/bin/true"]
        try:
            done = children.run(command, {}, seconds=30, pass_fds=(seccomp,))
        except subprocess.TimeoutExpired:
            return UserError("the sandbox does not work here: bubblewrap did not end within 30 s")
        finally:
            os.close(seccomp)
        if done.returncode == 0:
            return None
        reason = " ".join(done.stderr.decode(errors="replace").split())[-300:] or f"exit status {done.returncode}"
        remedy = next((remedy for sign, remedy in REMEDIES if sign in reason), "see pgdl help sandbox")
        return UserError(f"the sandbox does not work here: {reason}", remedy=remedy)

    def prepare(self, trials: Sequence[Job]) -> None:
        """Create the run's control group. If that fails, only the harness' own measurements limit the memory."""
        if self.groups is None:
            with suppress(NoCgroupError):
                self.groups = RunGroup()

    def start(self, launch: Launch) -> RunningSandbox:
        """Start a new interpreter in a new sandbox. Raise `StartError` if that fails."""
        command = bubblewrap.worker(launch.job.runtime)
        return Enclosure(launch, self.groups, command, source=launch.control, output=launch.output)

    def close(self) -> None:
        """Remove the run's control group."""
        if self.groups is not None:
            self.groups.close()
            self.groups = None

    def shown(self) -> frozenset[Path]:
        """Return the directories of the system and of the Python environment, which every worker can read."""
        options, _ = bubblewrap.trial()
        binds = ("--ro-bind", "--bind", "--dev-bind")
        sources = [Path(source) for word, source in pairwise(options) if word.startswith(binds)]
        return frozenset(path.resolve() for path in (*sources, *search_path()) if path.exists())


class Enclosure(RunningSandbox):
    """A sandbox of bubblewrap in which a command runs. If its PID 1 is killed, the kernel kills its other processes."""

    processes: Namespace

    def __init__(
        self, launch: Launch, groups: RunGroup | None, command: list[str], *, source: int, output: int
    ) -> None:
        """Start the sandbox of a job, set the limits of its first process, and then let `command` begin.

        `source` and `output` are the descriptors of the command's standard streams. Raise `StartError` if bubblewrap
        cannot create the sandbox, or the kernel cannot create a process or the call's control group.
        """
        job, limits = launch.job, launch.limits
        program = filter_program(job.gpu is not None)
        options, prefix = bubblewrap.sandbox(job, limits, launch.slot)
        try:
            self.group = groups.call(limits) if groups else None
        except OSError as error:
            raise StartError(f"its control group cannot be created: {error}") from error
        seccomp, (answer, info), (gate, opening) = memory_file(program), os.pipe(), os.pipe()
        words = [*options, "--seccomp", str(seccomp), "--info-fd", str(info), "--block-fd", str(gate)]
        arguments = memory_file(b"".join(word.encode() + b"\0" for word in words))
        inherited = (seccomp, info, gate, arguments)
        with os.fdopen(answer, "rb") as described, os.fdopen(opening, "wb"):
            try:
                entrance = self.group.entrance if self.group else []
                self._process = children.popen(
                    [*entrance, bubblewrap.executable(), "--args", str(arguments), "--", *prefix, *command], {},
                    stdin=source, stdout=output, stderr=launch.output, pass_fds=inherited, **children.OWN_GROUP,
                )  # fmt: skip
            except OSError as error:  # other calls may have started too many processes
                if self.group:
                    self.group.close()
                raise StartError(f"no process can be started: {error.strerror}") from error
            finally:
                for descriptor in inherited:
                    os.close(descriptor)
            try:
                pid = self._admit(described, limits)
            except StartError:
                self._process.wait()
                if self.group:
                    self.group.close()
                raise
            self.pidfd = os.pidfd_open(pid)
            self.processes = Namespace(pid)

    def _admit(self, described: IO[bytes], limits: Limits) -> int:
        """Set the limits of the sandbox's first process, and return the process ID that it has outside the sandbox."""
        try:
            pid = int(json.load(described)["child-pid"])
            limit_process(pid, limits.processes, limits.open_files, limits.file_bytes)
        except PermissionError as error:
            self._process.kill()
            raise StartError("its limits cannot be set") from error
        except (ValueError, ProcessLookupError) as error:
            raise StartError from error  # bubblewrap could not create the sandbox, and printed why
        return pid

    def storage(self) -> Storage | None:
        """Return the use of scratch space and sockets; None until the sandbox has its own root directory."""
        root, size, files = self.processes.root(), 0, 0
        if root is None:
            return None
        try:
            for path in bubblewrap.SCRATCH:
                used = os.statvfs(f"{root}{path}")
                size += (used.f_blocks - used.f_bfree) * used.f_frsize
                files += used.f_files - used.f_ffree
            sockets = Path(f"{root}/proc/1/net/sockstat").read_bytes()
            counted = re.search(rb"^sockets: used (\d+)", sockets, re.MULTILINE)
        except (FileNotFoundError, ProcessLookupError):  # the sandbox has ended
            return Storage()
        return Storage(size, files, int(counted[1]) if counted else 0)

    def exit_status(self) -> int | None:
        """Return the exit status of bubblewrap, which equals the exit status of its command."""
        return shell_status(self._process.poll())

    def ran_out_of_memory(self) -> bool:
        """Return whether the kernel ended the call at the memory limit of its control group."""
        return self.group is not None and self.group.ran_out_of_memory()

    def kill(self) -> None:
        """Kill PID 1 of the sandbox; the kernel then kills all other processes inside."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def is_gone(self) -> bool:
        """Return whether bubblewrap has ended; it ends after all processes of the sandbox."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Close the descriptors of PID 1 and of the sandbox's root directory, and remove the control group."""
        os.close(self.pidfd)
        self.processes.close()
        if self.group:
            self.group.close()
