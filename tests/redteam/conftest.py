"""Fixtures of the attack suite: those of the end-to-end tests, and a token that identifies leftovers."""

import fcntl
import os
import secrets
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from throwaway import make_task


@pytest.fixture(scope="session")
def token() -> str:
    """A random word that identifies this run."""
    return secrets.token_hex(8)


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a hidden task of one model."""
    directory = tmp_path_factory.mktemp("target")
    make_task(directory, name="single", n_models=1, reference=False)
    return directory


@pytest.fixture(scope="session")
def beacon(target: Path, token: str) -> Iterator[None]:
    """Provide targets outside of the sandbox: sockets, a locked shared file, and a thread that keeps opening it."""
    shared = Path(os.__file__)  # in every sandbox
    stop = threading.Event()

    def open_again_and_again() -> None:
        while not stop.wait(0.1):
            shared.read_bytes()

    thread = threading.Thread(target=open_again_and_again)
    with shared.open("rb") as held, listening(f"\0redteam-{token}"), listening(f"{target}/socket"):
        with suppress(BlockingIOError):  # a lock held by another run of these tests serves as well
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(held, fcntl.LOCK_SH)
        thread.start()
        yield
        stop.set()
        thread.join()


@contextmanager
def listening(name: str) -> Iterator[None]:
    """In the context, a Unix socket with this name accepts connections."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        yield


@pytest.fixture(scope="session")
def surroundings(token: str, shared_cache: Path) -> Iterator[dict[str, str]]:
    """The harness' environment variables: a cache whose path has the token, and a secret."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PGDL_")}
    with tempfile.TemporaryDirectory(prefix=f"cache-{token}-") as cache:
        shutil.copytree(shared_cache / "shapes", Path(cache, "shapes"))
        Path(cache).chmod(0o755)  # under Landlock, workers of root are ordinary users
        yield variables | {"PGDL_CACHE": cache, "SECRET_TOKEN": "hunter2"}
