"""An error that the sandbox causes ends in a sentence on the sandbox."""

import errno
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.worker import refusals
from harness.worker.refusals import NETWORK, PROGRAM, SYSTEM_CALL, refusal


@pytest.fixture(autouse=True)
def confined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_is_confined", lambda: True)
    monkeypatch.setenv("MEMORY_LIMIT_BYTES", str(3 << 30))
    monkeypatch.setenv("TMPDIR", "/full")


def error_of(call: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - whatever it raises
        call()
    return raised.value


def wrapped() -> None:
    try:
        raise socket.gaierror(-3, "Temporary failure in name resolution")
    except OSError:
        raise RuntimeError("no weights") from None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (socket.gaierror(-3, "?"), NETWORK),
        (error_of(wrapped), NETWORK),
        (Exception("URL fetch failure on https://a.org"), NETWORK),
        (NotADirectoryError(errno.ENOTDIR, "no", "/dev/null/models"), f"{NETWORK}, so that Keras can download nothing"),
        (PermissionError(errno.EPERM, "no"), SYSTEM_CALL),
        (OSError(errno.EROFS, "no", "/etc/x"), "the sandbox shows the submission's own files"),
        (FileNotFoundError(errno.ENOENT, "no", "/home/anna/x"), "the sandbox shows the submission's own files"),
        (RuntimeError("can't start new thread"), "processes and threads"),
        (BlockingIOError(errno.EAGAIN, "no"), "processes and threads"),
        (MemoryError(), "the sandbox limits a call to 3072 MiB of memory"),
        (error_of(lambda: subprocess.run(["no-such-program"], check=False)), PROGRAM),
        (error_of(lambda: subprocess.run("no-such-program", shell=True, check=True)), PROGRAM),
        (OSError(errno.EFBIG, "no"), "MiB of files under /full"),
    ],
)
def test_the_sandbox_is_named(error: Exception, sentence: str, tmp_path: Path) -> None:
    assert sentence in refusal(error, tmp_path)


@pytest.mark.parametrize(
    "error", [ValueError("network"), KeyError(3), OSError("odd"), FileNotFoundError(errno.ENOENT, "no", 7)]
)
def test_no_other_error_is_the_sandboxs(error: Exception, tmp_path: Path) -> None:
    assert refusal(error, tmp_path) == ""


def test_a_file_beside_the_measure_is_found(tmp_path: Path) -> None:
    (tmp_path / "w.json").touch()
    assert "Path(__file__).parent / 'w.json'" in refusal(FileNotFoundError(errno.ENOENT, "no", "w.json"), tmp_path)
    own = FileNotFoundError(errno.ENOENT, "no", str(tmp_path / "none.json"))
    assert refusal(own, tmp_path) == ""
    written = OSError(errno.EROFS, "no", str(tmp_path / "w.json"))
    assert refusal(written, tmp_path) == " (in the sandbox only /full can be written to)"


def test_nothing_is_said_without_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_is_confined", lambda: False)
    assert refusal(socket.gaierror(-3, os.strerror(1)), tmp_path) == ""
