"""The kind of sandbox in which a container engine creates a container for each call.

The control channel is the container's standard input and output, because a container cannot inherit other
descriptors. docs/containers.md gives the purpose of each option, and the engines that were tried.
"""

import json
import os
import shutil
import sys
from base64 import b64encode
from collections.abc import Sequence
from functools import cache, cached_property

import harness
from harness import children
from harness.errors import UserError
from harness.registry import Parameter
from harness.sandbox.bubblewrap import FIRST_UID_OF_FEW, HOME, JOB_DIRECTORIES, SCRATCH
from harness.sandbox.container import CLIENT, EngineError, RunningContainer, ask, new_name, start_reaper
from harness.sandbox.job import Job, Launch, Limits
from harness.sandbox.kinds.kind import Kind
from harness.sandbox.seccomp import filter_program
from harness.shell import typed

#: The default image.
IMAGE = f"pgdl-harness:{harness.__version__}"

#: Number of user IDs that containers use in turn, starting at FIRST_UID_OF_FEW. No account has such an ID.
UIDS = 1500

#: Search path for the image's Python. The worker gets no environment variable of the image.
PATH = "/usr/local/bin:/usr/bin:/bin"

#: Program of the worker's interpreter. Its arguments are the system-call filter, the runtime and `JOB_DIRECTORIES`.
BOOTSTRAP = (
    "import sys; from pathlib import Path; program, runtime, trusted, *job = sys.argv[1:]; "
    "sys.path.insert(0, trusted); from harness.worker.container import main; "
    "sys.path.pop(0); main(program, runtime, *map(Path, job))"
)

#: Program that prints the system-call filter; its argument is 1 with a GPU, 0 without.
FILTER = (
    "import sys; from base64 import b64encode; from harness.sandbox.seccomp import filter_program; "
    "print(b64encode(filter_program(sys.argv[1] == '1')).decode())"
)

#: Program that tests whether the directories in its arguments are writable.
TRIAL = """
import sys, tempfile
try:
    for name in sys.argv[1:]:
        tempfile.TemporaryFile(dir=name).close()
except OSError as error:
    sys.exit(str(error))
"""

#: Parts of error messages of Docker and Podman: the image is missing, or the container runtime is unknown.
NO_IMAGE = ("No such image", "image not known")
NO_RUNTIME = ("invalid runtime name", "Unknown runtime", "default OCI runtime")

#: Part of the client's error message -> remedy, for other failures.
REMEDIES = (
    ("permission denied while trying to connect", "let your user reach the engine, e.g. through the group docker"),
    ("connect to the Docker daemon", "start the Docker engine, e.g. systemctl start docker"),
    ("Permission denied: '/tmp", "let everybody write to /tmp in the image: RUN chmod 1777 /tmp in its Dockerfile"),
)


class Docker(Kind):
    """Starts a container for each call."""

    name = "docker"
    summary = "a new container"
    needs_linux = False
    parameters = (
        Parameter("image", "IMAGE", "the image that holds Python and the frameworks.", IMAGE),
        Parameter("runtime", "NAME", "the engine's container runtime, e.g. runsc. Default: the engine's own choice."),
    )

    def __init__(self, image: str = IMAGE, runtime: str | None = None) -> None:
        """`image` has Python and the frameworks; `runtime` is a container runtime, or None for the engine's default."""
        self.image, self.runtime = image, runtime
        self._reaper: children.Child | None = None

    def prepare(self, trials: Sequence[Job]) -> None:
        """Start a process that removes the containers when the harness ends."""
        self._reaper = self._reaper or start_reaper()

    def start(self, launch: Launch) -> RunningContainer:
        """Start a worker in a new container. Raise `StartError` if the container does not run in time."""
        name, limits = new_name(), launch.limits
        command = self.command(launch.job, limits, launch.slot, name)
        return RunningContainer(name, command, launch.control, launch.output, limits.startup_s)

    def command(self, job: Job, limits: Limits, slot: int, name: str) -> list[str]:
        """Return the client's arguments that run the worker of a job in a container called `name`."""
        program = self._filter(job.gpu is not None)
        gpu = [] if job.gpu is None else ["--gpus", f"device={job.gpu.uuid}"]
        environment = job.environment(home=HOME) | {"PATH": PATH}
        return [
            *_base_options(limits, slot, name), "--cpus", str(job.threads), *gpu, *_mounts(job),
            *self._image(),
            "-i", *(f"{variable}={value}" for variable, value in environment.items()),  # `env -i`: no other variables
            "python", "-I", "-B", "-u", "-c", BOOTSTRAP, program, job.runtime, *JOB_DIRECTORIES,
        ]  # fmt: skip

    @property
    def isolation(self) -> str:
        """The isolation's name in a configuration: `docker`, or `docker/RUNTIME` if the user named a runtime."""
        return f"docker/{self.runtime}" if self.runtime else "docker"

    def versions(self, runtime: str) -> str:
        """Return the ID of the image, which determines the libraries. Raise `UserError` if the image is unknown."""
        return f"image {self._image_id}"

    @cached_property
    def _image_id(self) -> str:
        try:
            return ask("image", "inspect", "--format", "{{.Id}}", self.image)
        except EngineError as error:
            raise UserError(f"the engine does not know the image: {error}", remedy=self._remedy(str(error))) from error

    def close(self) -> None:
        """Remove the remaining containers."""
        if self._reaper is not None:
            self._reaper.communicate()  # closes its input, and waits for its end
            self._reaper = None

    def problem(self) -> UserError | None:
        """Return why a test container does not work; None if it works."""
        if shutil.which(CLIENT) is None:
            return UserError(f"{CLIENT} is not installed", remedy="install a Docker engine, see pgdl help containers")
        try:
            volumes = ask("image", "inspect", "--format", "{{json .Config.Volumes}}", self.image)
            if json.loads(volumes):
                remedy = "remove VOLUME from its Dockerfile: volumes can be written to"
                return UserError(f"the image {self.image} declares volumes", found=volumes, remedy=remedy)
            _ask_inside(self._image(), "-c", TRIAL, *SCRATCH)
            self._filter(gpu=False)
        except UserError as error:
            return error
        except EngineError as error:
            return UserError(f"containers do not work here: {error}", remedy=self._remedy(str(error)))
        return None

    def _filter(self, gpu: bool) -> str:
        if sys.platform != "linux":
            return _filter_of_image(self.image, tuple(self._image()), gpu)
        return b64encode(filter_program(gpu)).decode()

    def _image(self) -> list[str]:
        runtime = ["--runtime", self.runtime] if self.runtime else []
        return [*runtime, "--pull", "never", "--entrypoint", "/usr/bin/env", self.image]

    def _remedy(self, reason: str) -> str:
        if any(sign in reason for sign in NO_IMAGE):
            return _build(self.image)
        if any(sign in reason for sign in NO_RUNTIME):
            return f"register {self.runtime} in /etc/docker/daemon.json (gVisor: runsc install) and restart the engine"
        return next((remedy for sign, remedy in REMEDIES if sign in reason), "see pgdl help containers")


@cache
def _filter_of_image(name: str, image: tuple[str, ...], gpu: bool) -> str:
    """Return the image's own system-call filter (Base64). Raise `UserError` if the image has no filter."""
    try:
        return _ask_inside(image, "-I", "-c", FILTER, str(int(gpu)))
    except EngineError as error:
        raise UserError(f"the image {name} makes no system-call filter: {error}", remedy=_build(name)) from error


def _build(image: str) -> str:
    return f"build it in a checkout of the harness: {typed('docker', 'build', '--tag', image, '.')}"


def _ask_inside(image: Sequence[str], *arguments: str) -> str:
    """Run Python in a test container and return its output. Raise `EngineError` if it fails."""
    options = [*_base_options(Limits(), 0, new_name()), "--rm", *image]
    return ask(*options, "-i", f"PATH={PATH}", "python", *arguments)


def _base_options(limits: Limits, slot: int, name: str) -> list[str]:
    # The engine counts in-memory files as memory; the harness counts the memory of processes only.
    memory = str(limits.memory_bytes + limits.scratch_bytes + limits.shared_memory_bytes)
    scratch, shared = SCRATCH
    user = str(FIRST_UID_OF_FEW + (16 * os.getpid() + slot) % UIDS)
    return [
        "run", "--name", name, "--interactive", "--init=false", "--log-driver", "none", "--stop-timeout", "0",
        "--network", "none", "--ipc", "none", "--hostname", "sandbox", "--workdir", HOME,
        "--user", f"{user}:{user}", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
        "--memory", memory, "--memory-swap", memory, "--oom-score-adj", "500",
        "--pids-limit", str(limits.processes),
        "--ulimit", f"nproc={limits.processes}:{limits.processes}",
        "--ulimit", f"nofile={limits.open_files}:{limits.open_files}",
        "--ulimit", f"fsize={limits.file_bytes}:{limits.file_bytes}",
        "--ulimit", "core=0:0",
        "--read-only",
        "--tmpfs", _scratch(scratch, limits.scratch_bytes),
        "--tmpfs", _scratch(shared, limits.shared_memory_bytes),
    ]  # fmt: skip


def _scratch(path: str, size: int) -> str:
    """Return the value of `--tmpfs` for `size` bytes of scratch space. Programs can run in it, as with bubblewrap."""
    return f"{path}:rw,exec,nosuid,nodev,size={size},mode=1777"


def _mounts(job: Job) -> list[str]:
    """Return options that mount the job's directories read-only. The values are CSV; quotes allow commas in a path."""
    options = []
    for source, target in zip(job.directories, JOB_DIRECTORIES, strict=True):
        quoted = str(source).replace('"', '""')
        options += ["--mount", f'type=bind,"source={quoted}",target={target},readonly']
    return options
