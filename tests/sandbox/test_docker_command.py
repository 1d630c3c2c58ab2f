"""Tests of the command that starts a container, and of messages about problems of an engine."""

import csv
import os
from base64 import b64decode
from pathlib import Path
from typing import Any

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
    *, directories: list[Path] = STAGED, runtime: str | None = None, slot: int = 3, gpu: Gpu | None = None
) -> Any:
    """Return the options of `docker run` with their values, and the image with its command."""
    job = Job(*directories, runtime="keras2", threads=3, gpu=gpu)
    first, *rest = Docker("image:1", runtime).command(job, LIMITS, slot, "some-name")
    assert first == "run"
    return parse_run(rest)


def test_the_options_are_these_and_no_others() -> None:
    """No option loosens the isolation, such as --privileged, --cap-add, --volume, --device or --env."""
    options, _ = split()
    assert options.pop("--user")
    assert {option for option, words in options.items() if words == [""]} < FLAGS
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
            f"/tmp:rw,exec,nosuid,nodev,size={256 * MIB},mode=1777",
            f"/dev/shm:rw,exec,nosuid,nodev,size={64 * MIB},mode=1777",
        ],
        "--mount": [
            f'type=bind,"source={source}",target={target},readonly'
            for source, target in zip(STAGED, JOB_DIRECTORIES, strict=True)
        ],
        "--pull": ["never"],
        "--entrypoint": ["/usr/bin/env"],
    }


def test_a_path_may_have_what_separates_the_fields_of_a_mount() -> None:
    odd = Path('/my,cache/"quoted"')
    (fields, *_) = csv.reader(split(directories=[odd] * 4)[0]["--mount"])
    assert fields == ["type=bind", f"source={odd}", "target=/job/trusted", "readonly"]


def test_no_two_containers_share_a_user_and_none_is_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel counts processes per user; user numbers of rootless engines end at 65535."""
    users = set()
    for pid in (100, 101):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        for slot in range(16):
            (user,) = split(slot=slot)[0]["--user"]
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


ODD = "[Errno 13] Permission denied: '/tmp/tmp5531hghb'"
NOT_RUNNING = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
NO_PERMISSION = "permission denied while trying to connect to the Docker daemon socket"
REFUSES = "containers do not work here: "


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (
            f'echo "{NOT_RUNNING}" >&2; exit 1',
            f"{REFUSES}{NOT_RUNNING}; start the Docker engine, e.g. systemctl start docker",
        ),
        (
            f'echo "{NO_PERMISSION}" >&2; exit 1',
            f"{REFUSES}{NO_PERMISSION}; let your user reach the engine, e.g. through the group docker",
        ),
        ('echo "something new" >&2; exit 1', f"{REFUSES}something new; see pgdl help containers"),
        (  # older Docker engines mount /tmp with its permissions in the image
            f'''test "$1" = image && echo null || {{ echo "{ODD}" >&2; exit 1; }}''',
            f"{REFUSES}{ODD}; let everybody write to /tmp in the image: RUN chmod 1777 /tmp in its Dockerfile",
        ),
        (  # volumes are writable without a limit, although the root is read-only
            """echo '{"/work":{}}'""",
            f'the image {IMAGE} declares volumes: found {{"/work":{{}}}}; '
            "remove VOLUME from its Dockerfile: volumes can be written to",
        ),
    ],
)
def test_an_engine_or_image_that_does_not_do_says_how_to_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, problem: str
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "docker").chmod(0o755)
    assert str(Docker(IMAGE).problem()) == problem


def test_an_engine_that_works_and_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{install(tmp_path / 'bin')}:{os.environ['PATH']}")
    assert Docker(IMAGE).problem() is None
    assert Docker(IMAGE, "runsc").problem() is None
    assert str(Docker("other:1").problem()) == (
        f"{REFUSES}Error response from daemon: No such image: other:1; "
        "build it in a checkout of the harness: docker build --tag other:1 ."
    )
    assert str(Docker(IMAGE, "kata").problem()) == (
        f"{REFUSES}docker: Error response from daemon: unknown or invalid runtime name: kata; "
        "register kata in /etc/docker/daemon.json (gVisor: runsc install) and restart the engine"
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    none = "docker is not installed; install a Docker engine, see pgdl help containers"
    assert str(Docker(IMAGE).problem()) == none
