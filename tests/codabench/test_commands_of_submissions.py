"""A submission may bring a file in which the platform looks for a command; it is looked at before anything is run."""

import os
from pathlib import Path

import pytest

from harness.codabench.ingestion import _own_command

PIPE = "expected a regular file, found a pipe"


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml"])
def test_it_is_neither_waited_for_nor_followed(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    assert _own_command(tmp_path) == f"refused: {tmp_path / name}: cannot be read: {PIPE}"
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("name: x\n")
    assert "found a symbolic link" in (_own_command(tmp_path) or "")


def test_other_files_have_no_command(tmp_path: Path) -> None:
    assert _own_command(tmp_path) is None
    (tmp_path / "metadata").write_text("name: x\n")
    assert _own_command(tmp_path) is None
