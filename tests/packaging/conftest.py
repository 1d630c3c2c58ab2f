"""Runs the scripts of .ci and the Makefile on a machine that has only the programs that a test adds."""

import shutil
import subprocess
from pathlib import Path

import pytest
from repository import ROOT

#: Programs that the scripts need on any system.
ALWAYS_THERE = (
    "awk", "cat", "cp", "date", "dirname", "echo", "find", "getconf", "make", "mkdir", "rm", "sed", "sh", "touch",
    "uname",
)  # fmt: skip


class Machine:
    """A checkout, and a PATH with only `ALWAYS_THERE` and the programs that the test adds."""

    def __init__(self, directory: Path):
        self.log = directory / "log"
        self.checkout = directory / "checkout"
        self.programs = directory / "bin"
        self.programs.mkdir()
        for name in ALWAYS_THERE:
            found = shutil.which(name)
            assert found is not None
            (self.programs / name).symlink_to(found)
        shutil.copytree(ROOT / ".ci", self.checkout / ".ci")
        for file in ("Makefile", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / file, self.checkout)

    def add(self, name: str, script: str = "", *, directory: Path | None = None) -> None:
        """Add a program that logs its calls, and runs `script` with sh."""
        path = (directory or self.programs) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.log}\n{script}\n')
        path.chmod(0o755)

    def remove(self, name: str) -> None:
        (self.programs / name).unlink()

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the checkout; its environment holds only PATH."""
        return subprocess.run(
            command, cwd=self.checkout, env={"PATH": str(self.programs)}, capture_output=True, text=True, timeout=500
        )

    def calls(self) -> list[str]:
        """Return the calls of programs, with their arguments, that this method has not returned before."""
        calls = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return calls


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
