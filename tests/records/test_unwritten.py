"""Tests of records that a database refused: a local file keeps them until the next run adds them."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.records import Claims, Evaluation, Records, RecordWriter, add_unwritten, has_unwritten
from tests.records.evaluation_rows import NOW, evaluation
from tests.records.statements import execute
from tests.records.written_rows import kept_file, refusing, rows, values

pytestmark = pytest.mark.usefixtures("impatient")

ROOT = Path(__file__).parents[2]


def add_kept(location: str) -> list[str]:
    """Add the kept records, as every run does first; return the lines that it prints."""
    said: list[str] = []
    with Records(location) as records:
        records.warn = said.append
        add_unwritten(records)
    return said


def give_up(location: str, made: list[Evaluation]) -> str:
    """Write records to a database that refuses them; return the error."""
    refused = pytest.raises(UserError)
    with Records(location) as records, refusing(location), refused as error, RecordWriter(records, None) as writer:
        for row in made:
            writer.add(row)
    return str(error.value)


def test_what_a_database_does_not_take_is_added_by_the_next_run(location, cache):
    message = give_up(location, rows(3))
    file = kept_file(cache)
    assert len(message.splitlines()) == 1
    assert f"; finished calls are kept in {file}; fix this and run the same command again" in message
    assert values(location) == []
    with Records(location, read_only=True) as records:
        assert has_unwritten(records)
    (line,) = add_kept(location)
    with Records(location, read_only=True) as records:
        assert not has_unwritten(records)
    assert line.endswith(": added 3 records that an earlier run kept locally")
    assert values(location) == [0.0, 1.0, 2.0]
    assert not file.exists()
    assert add_kept(location) == []


@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(days=1)], ids=["clock right", "clock ahead"])
def test_kept_records_count_as_the_last_written_whatever_the_clock_said(location, ahead):
    kept = rows(2)
    with Records(location) as records:
        records.add(*(evaluation(key=row.key, value=8.0, finished_at=NOW + ahead) for row in kept))
    give_up(location, [replace(row, finished_at=NOW + timedelta(hours=1)) for row in kept])
    add_kept(location)
    with Records(location) as records:
        assert [row.value for row in records.newest({row.key for row in kept})] == [0.0, 1.0]
    assert values(location) == [8.0, 8.0, 0.0, 1.0]


def test_kept_records_are_added_once_and_to_their_database_alone(location, cache, tmp_path):
    """The file remains if a run is killed after its transaction, but before it removes the file."""
    give_up(location, rows(3))
    file, other = kept_file(cache), str(tmp_path / "other.db")
    assert add_kept(other) == []
    assert values(other) == []
    with Records(location) as records, refusing(location), pytest.raises(UserError, match="database failed"):
        add_unwritten(records)
    content = file.read_bytes()
    for _ in range(2):
        file.write_bytes(content)
        add_kept(location)
    assert values(location) == [0.0, 1.0, 2.0]


DAMAGES = {
    "empty": lambda _: b"",
    "garbage": lambda _: b"x" * 5000,
    "cut": lambda content: content[: len(content) // 2],
}


@pytest.mark.parametrize("damage", [*DAMAGES, "odd row"])
def test_a_kept_file_that_cannot_be_read_is_set_aside(damage, tmp_path, cache):
    location = str(tmp_path / "results.db")
    for number in (1, 2):
        give_up(location, rows(3))
        file = kept_file(cache)
        if damage == "odd row":
            execute(str(file), "update evaluations set finished_at = 'yesterday' where id = 2")
        else:
            file.write_bytes(DAMAGES[damage](file.read_bytes()))
        content = file.read_bytes()
        (line,) = add_kept(location)
        aside = file.with_name(f"{file.name}.unusable-{number}")
        assert line.startswith(f"{file}, which keeps records of finished calls, cannot be read; ")
        assert line.endswith(f"; 0 of its records were added, and it is now called {aside}")
        assert aside.read_bytes() == content
        assert not file.exists()
    with Records(location) as records, RecordWriter(records, None) as writer:
        writer.add(evaluation(value=7.0))
    assert values(location) == [7.0]


FULL = """
import resource, sys
from harness.errors import UserError
from harness.records import Records, RecordWriter
from tests.records.evaluation_rows import evaluation

with Records(sys.argv[1]) as records:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    try:
        with RecordWriter(records, None) as writer:
            for number in range(3):
                writer.add(evaluation(model=f"model_{number}", output_tail=16_000 * "x"))
                writer.flush()
    except UserError as error:
        print(error)
"""


def test_a_disk_that_is_full_for_database_and_cache_blocks_no_later_run(tmp_path, cache):
    """No file may grow: the system refuses to write, as on a full disk."""
    location = str(tmp_path / "results.db")
    command = [sys.executable, "-c", FULL, location]
    ended = subprocess.run(command, cwd=ROOT, env=os.environ, check=True, capture_output=True, text=True)
    (line,) = ended.stdout.splitlines()
    assert "; 1 finished call lost, because " in line
    assert ": cannot be written: " in line
    assert "kept" not in line
    assert line.endswith("; fix this and run the same command again")
    assert list((cache / "unwritten").glob("*.db*")) == []
    assert add_kept(location) == []
    with Records(location) as records, RecordWriter(records, None) as writer:
        writer.add(evaluation(value=7.0))
    assert values(location) == [7.0]


def put_another(file: Path) -> None:
    file.unlink()
    file.write_bytes(b"")


def move_directory(file: Path) -> None:
    file.parent.rename(file.parent.with_name("elsewhere"))


@pytest.mark.parametrize("change", [Path.unlink, put_another, move_directory])
def test_a_file_that_is_deleted_or_moved_in_mid_run_is_named_as_that(change, tmp_path, cache):
    file = tmp_path / "directory" / "results.db"
    file.parent.mkdir()
    with Records(file) as records, Claims(records) as claims:
        claims.take([row.key for row in rows(2)])
        with pytest.raises(UserError) as error, RecordWriter(records, None) as writer:  # noqa: PT012
            writer.add(rows(1)[0])
            writer.flush()
            change(file)
            left = file.read_bytes() if file.exists() else None
            with pytest.raises(UserError, match="; put it back, or run the same command again, which makes a new one"):
                claims.take(["more"])
            writer.add(rows(2)[1])
            writer.flush()
    assert (file.read_bytes() if file.exists() else None) == left
    assert str(error.value) == (
        f"{file}: the results database failed: its file has been deleted or moved meanwhile; finished calls are kept "
        f"in {kept_file(cache)}; fix this and run the same command again, which adds them"
    )
    file.parent.mkdir(exist_ok=True)
    add_kept(str(file))
    assert values(str(file)) == [1.0]
