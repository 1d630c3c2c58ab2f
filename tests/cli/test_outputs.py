"""Tests of output that cannot be written: refused before any long work, even before the tasks are read."""

import sys
from pathlib import Path

import pytest
from in_process import Pgdl

COMMANDS = (
    "ci --head main --output {}", "board --output {}", "board --html {}", "report --html {}", "overfit t --output {}",
    "invariance t --output {}", "testbed t --data d --output {}", "compare --recorded --output {}/table",
    "codabench collect c.toml exports --html {}",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_directory_that_cannot_be_made_is_refused_first(command: str, pgdl: Pgdl, folder: Path) -> None:
    (folder / "file").touch()
    assert pgdl(*command.format("file/out").split()).refusal().startswith("pgdl: file/out: cannot be created: ")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
@pytest.mark.parametrize("command", ["ci --head main --output {}", "report --html {}", "compare --output {}/table"])
def test_a_directory_that_cannot_be_written_is_refused_first(command: str, pgdl: Pgdl) -> None:
    assert pgdl(*command.format("/proc/sys").split()).refusal().startswith("pgdl: /proc/sys: cannot be written: ")


@pytest.mark.parametrize("command", ["ci --head main --output out", "board --html out/site"])
def test_a_site_with_other_files_is_refused_first(command: str, pgdl: Pgdl, folder: Path) -> None:
    (folder / "out/site/data").mkdir(parents=True)
    (folder / "out/site/data/site.json").touch()
    (folder / "out/site/mine.txt").touch()
    assert "out/site: not only a site: expected no other files, found mine.txt" in pgdl(*command.split()).refusal()
