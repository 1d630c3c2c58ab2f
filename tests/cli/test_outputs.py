"""Tests of output that cannot be written: refused before any long work, even before the tasks are read."""

import sys
from pathlib import Path

import pytest
from in_process import Pgdl

COMMANDS = (
    "ci --head main --output {}", "board --output {}", "board --html {}", "report --html {}", "overfit t --output {}",
    "invariance t --output {}", "testbed t --data d --output {}", "compare --recorded --output {}/table",
    "compare --measures num_params --output {}/table", "codabench collect c.toml exports --html {}",
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
@pytest.mark.parametrize("name", ["mine.txt", ".git"])
def test_a_site_with_other_files_is_refused_first(command: str, name: str, pgdl: Pgdl, folder: Path) -> None:
    for file in ("data/site.json", "index.html", f"{name}/file"):
        (folder / "out/site" / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / "out/site" / file).touch()
    said = f"out/site: not only a site: expected no other files, found {name}; move it away, or name"
    assert said in pgdl(*command.split()).refusal()
    assert [file for file in ("index.html", f"{name}/file") if not (folder / "out/site" / file).exists()] == []
