"""Reads submissions in the process of the test."""

import io
from pathlib import Path

import pytest

from harness.inspector.answer import READY, Answer, parse_answer, write_answer
from harness.inspector.archive import read_zip
from harness.inspector.folder import read_file, read_folder
from harness.inspector.main import inspect

READERS = {"file": read_file, "folder": read_folder, "zip": read_zip}


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read submissions in this process, with the functions of the bounded process (see test_inspection_process.py)."""

    def ask(kind: str, path: Path) -> Answer:
        stream = io.BytesIO()
        stream.write(READY)
        write_answer(inspect(READERS[kind], str(path)), stream)
        return parse_answer(stream.getvalue())

    monkeypatch.setattr("harness.submission.inspect._ask", ask)
