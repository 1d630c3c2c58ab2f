"""Tests of the command that starts a container, and of messages about problems of an engine."""

import csv
import os
from base64 import b64decode
from pathlib import Path

import pytest
from sandbox.fake_docker import FLAGS, IMAGE, install, parse_run

from harness.gpus import Gpu
from harness.sandbox.bubblewrap import JOB_DIRECTORIES
from harness.sandbox.job import MIB, Job, Limits
from harness.sandbox.kinds.docker import Docker
from harness.sandbox.seccomp import filter_program

LIMITS = Limits(memory_bytes=1024 * MIB, processes=99, open_files=77)
STAGED = [Path("/staged", name) for name in ("w", "s", "m", "d")]
GPU = Gpu(1, "GPU-2222", "NVIDIA H200", "0000:3b:00.0")


def split(
    *, runtime: str | None = None, slot: int = 3, gpu: Gpu | None = None
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the options of `docker run` with their values, and the image with its command."""
    job = Job(*STAGED, runtime="keras2", threads=3, gpu=gpu)
    first, *rest = Docker("image:1", runtime).command(job, LIMITS, slot, "some-name")
    assert first == "run"
    return parse_run(rest)


def test_the_options_are_these_and_no_others() -> None:
    """No option loosens the isolation, such as --privileged, --cap-add, --volume, --device or --env."""
    options, _ = split()
    assert options.pop("--user")
    assert {option for option, words in options.items() if words == [""]} < FLAGS
    mount = 'type=bind,"source=/staged/{}",target=/job/{},readonly'
    assert options == {
        "--name": ["some-name"],
        "--interactive": [""],  # the control channel is its standard input and output
        "--init=false": [""],  # nothing but the worker is inside
        "--log-driver": ["none"],  # or frames and output would be kept on disk without bound
        "--stop-timeout": ["0"],
        "--network": ["none"],
        "--ipc": ["none"],
        "--hostname": ["sandbox"],
        "--workdir": ["/tmp"],
        "--cap-drop": ["ALL"],
        "--security-opt": ["no-new-privileges"],
        "--read-only": [""],
        "--memory": [str((1024 + 256 + 64) * MIB)],  # files in memory count as memory
        "--memory-swap": [str((1024 + 256 + 64) * MIB)],  # together with swap: none
        "--pids-limit": ["99"],
        "--ulimit": ["nproc=99:99", "nofile=77:77", f"fsize={256 * MIB}:{256 * MIB}", "core=0:0"],
        "--oom-score-adj": ["500"],
        "--cpus": ["3"],
        "--tmpfs": [
            f"{place}:rw,exec,nosuid,nodev,size={size * MIB},mode=1777"
            for place, size in (("/tmp", 256), ("/dev/shm", 64))
        ],
        "--mount": [
            mount.format(*pair) for pair in (("w", "trusted"), ("s", "submission"), ("m", "model"), ("d", "data"))
        ],
        "--pull": ["never"],
        "--entrypoint": ["/usr/bin/env"],
    }


def test_a_path_may_have_what_separates_the_fields_of_a_mount() -> None:
    odd = Path('/my,cache/"quoted"')
    _, *rest = Docker("image:1").command(Job(odd, odd, odd, odd), LIMITS, 3, "some-name")
    (fields, *_) = csv.reader(parse_run(rest)[0]["--mount"])
    assert fields == ["type=bind", f"source={odd}", "target=/job/trusted", "readonly"]


def test_no_two_containers_share_a_user_and_none_is_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel counts processes per user; user numbers of rootless engines end at 65535."""
    users = set()
    for pid in (100, 101):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        for slot in range(16):
            ((user,),) = (split(slot=slot)[0]["--user"],)
            uid, gid = user.split(":")
            assert uid == gid
            assert 64000 <= int(uid) < 65534
            users.add(user)
    assert len(users) == 32


def test_one_gpu_and_no_other_and_another_runtime() -> None:
    assert split(gpu=GPU)[0]["--gpus"] == ["device=GPU-2222"]
    assert split(runtime="runsc")[0]["--runtime"] == ["runsc"]
    assert not {"--gpus", "--runtime"} & split()[0].keys()


@pytest.mark.parametrize("gpu", [None, GPU])
def test_the_worker_in_the_image(gpu: Gpu | None) -> None:
    """`env -i` removes the image's environment, and variables that a client adds (proxies and their passwords)."""
    _, (image, only, *rest) = split(gpu=gpu)
    assert (image, only) == ("image:1", "-i")
    environment = dict(word.split("=", 1) for word in rest[: rest.index("python")])
    assert environment == Job(*STAGED, runtime="keras2", threads=3, gpu=gpu).environment("/tmp") | {
        "PATH": "/usr/local/bin:/usr/bin:/bin"
    }
    python, *flags, bootstrap, program, runtime, trusted, submission, model, data = rest[rest.index("python") :]
    assert (python, flags) == ("python", ["-I", "-B", "-u", "-c"])
    assert "harness.worker.container" in bootstrap
    assert b64decode(program) == filter_program(gpu is not None)
    assert runtime == "keras2"
    assert (trusted, submission, model, data) == JOB_DIRECTORIES


def client(directory: Path, script: str) -> None:
    program = directory / "docker"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def problem(docker: Docker) -> str:
    found = docker.problem()
    assert found is not None
    assert "\n" not in str(found)
    return str(found)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is first on PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def test_an_engine_that_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    assert Docker(IMAGE).problem() is None
    assert Docker(IMAGE, "runsc").problem() is None
    assert problem(Docker("other:1")) == (
        "containers do not work here: Error response from daemon: No such image: other:1; "
        "build it in a checkout of the harness: docker build --tag other:1 ."
    )
    assert problem(Docker(IMAGE, "kata")) == (
        "containers do not work here: docker: Error response from daemon: unknown or invalid runtime name: kata; "
        "register kata in /etc/docker/daemon.json (gVisor: runsc install) and restart the engine"
    )


def test_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert problem(Docker(IMAGE)) == "docker is not installed; install a Docker engine, see pgdl help containers"


@pytest.mark.parametrize(
    ("printed", "remedy"),
    [
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "start the Docker engine, e.g. systemctl start docker",
        ),
        (
            "permission denied while trying to connect to the Docker daemon socket",
            "let your user reach the engine, e.g. through the group docker",
        ),
        ("something new", "see pgdl help containers"),
    ],
)
def test_an_engine_that_refuses(path: Path, printed: str, remedy: str) -> None:
    client(path, f'echo "{printed}" >&2; exit 1')
    assert problem(Docker(IMAGE)) == f"containers do not work here: {printed}; {remedy}"


def test_an_image_whose_scratch_space_nobody_may_write_to(path: Path) -> None:
    """Older Docker engines mount /tmp with its permissions in the image: the message says what to change there."""
    refused = "[Errno 13] Permission denied: '/tmp/tmp5531hghb'"
    client(path, f"""test "$1" = image && echo null || {{ echo "{refused}" >&2; exit 1; }}""")
    assert problem(Docker(IMAGE)) == (
        f"containers do not work here: {refused}; "
        "let everybody write to /tmp in the image: RUN chmod 1777 /tmp in its Dockerfile"
    )


def test_an_image_with_volumes(path: Path) -> None:
    """Volumes are writable without a limit, although the root is read-only."""
    client(path, """echo '{"/work":{}}'""")
    assert problem(Docker(IMAGE)) == (
        f'the image {IMAGE} declares volumes: found {{"/work":{{}}}}; '
        "remove VOLUME from its Dockerfile: volumes can be written to"
    )
