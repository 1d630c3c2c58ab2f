"""What is said where containers cannot be made: one line each that names what to do."""

import os
from pathlib import Path

import pytest
from sandbox.fake_docker import IMAGE, install

from harness.sandbox.kinds.docker import Docker


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
    """The first directory of PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def test_an_engine_that_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    assert Docker(IMAGE).problem() is None
    assert Docker(IMAGE, "runsc").problem() is None
    assert problem(Docker("other:1")) == (
        "containers do not work here: Error response from daemon: No such image: other:1; "
        "make it, in a checkout of the harness: docker build --tag other:1 ."
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
    """Older engines give /tmp the permissions that it has in the image."""
    refused = "[Errno 13] Permission denied: '/tmp/tmp5531hghb'"
    client(path, f"""test "$1" = image && echo null || {{ echo "{refused}" >&2; exit 1; }}""")
    assert problem(Docker(IMAGE)) == (
        f"containers do not work here: {refused}; "
        "let everybody write to /tmp in the image: RUN chmod 1777 /tmp in its Dockerfile"
    )


def test_an_image_with_volumes(path: Path) -> None:
    """They could be written to, without bound, although the root is read-only."""
    client(path, """echo '{"/work":{}}'""")
    assert problem(Docker(IMAGE)) == (
        f'the image {IMAGE} declares volumes: found {{"/work":{{}}}}; '
        "remove VOLUME from its Dockerfile: volumes can be written to"
    )
