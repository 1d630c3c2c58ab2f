"""Tests of cut connections, changed archives, full disks and killed processes: no partial task counts as whole."""

import errno
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from harness.credentials import Address
from harness.errors import UserError
from harness.fetch import corpus, remote, session, staging, transfer
from tests.fetch.archives import TASKS, catalogue, content, make_archive
from tests.fetch.servers import Served

pytestmark = pytest.mark.rest


@pytest.fixture
def file(server: Served, tmp_path: Path) -> Path:
    """The file of a catalogue; the catalogue describes an archive on the server."""
    make_archive(server.directory / "data.zip", n_train=480)
    return catalogue(tmp_path, server.url)


def is_whole(server: Served) -> bool:
    return content(TASKS) == content(server.directory / "made")


def test_lines_that_are_cut_are_continued_where_they_ended(fetch, server, monkeypatch, file):
    monkeypatch.setattr(remote, "CHUNK", 100)
    server.cut_every = 1000
    assert fetch().code == 0
    assert is_whole(server)
    assert server.sent < 1.5 * (server.directory / "data.zip").stat().st_size


def test_tasks_may_be_on_another_disk_than_their_directory(fetch, server, file, monkeypatch):
    """As if input_data and reference_data were links."""

    def bounded(move):
        def within_a_disk(source, target, **options):
            if ".fetching" in str(source) and ".fetching" not in str(target):
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source), None, str(target))
            move(source, target, **options)

        return within_a_disk

    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, bounded(getattr(os, name)))
    assert fetch().code == 0
    assert is_whole(server)


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        (
            lambda server: server.statuses.extend([503] * 100),
            "cannot be fetched: the server answers 503 Service Unavailable; the same command continues",
        ),
        (
            lambda server: (server.directory / "data.zip").unlink(),
            "cannot be fetched: expected 206 Partial Content, found 404 Not Found; the archive has moved: a newer "
            "version of pgdl-harness may know its address",
        ),
        (
            lambda server: server.statuses.append(403),
            "found 403 Forbidden; the server refuses access: check the address, and who may read the file",
        ),
        (
            lambda server: setattr(server, "redirect_to", server.url),
            "leads in circles: found 30 redirects; check the address",
        ),
        (
            lambda server: (server.directory / "data.zip").write_bytes(b"none"),
            "damaged: expected the directory of a zip archive, found 4 bytes, too few for a zip archive",
        ),
    ],
)
def test_a_busy_server_is_asked_again_and_what_that_does_not_mend_is_one_line(fetch, server, file, serve, said):
    server.statuses = [503, 429]
    assert fetch("small/tiny", "--models", 1).code == 0
    serve(server)
    (line,) = fetch().err.splitlines()
    assert line.startswith(f"pgdl: {server.url}/data.zip: ")
    assert line.endswith(said)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_silent_server_is_given_up_and_what_is_finished_is_kept(refusal, server, monkeypatch, file):
    monkeypatch.setattr(session, "TIMEOUTS_S", (5, 0.1))
    monkeypatch.setattr(session, "PAUSES_S", (0,))
    server.stall_s = 2
    line = refusal()
    assert line.startswith(f"pgdl: {server.url}/data.zip: 127.0.0.1 is silent")
    assert line.endswith("; the same command continues")


def test_a_wrong_checksum_is_one_line_and_the_others_are_kept(fetch, refusal, server, monkeypatch, file):
    monkeypatch.setattr(transfer, "CONNECTIONS", 1)  # the two largest files, the shards, come first
    archive = server.directory / "data.zip"
    with zipfile.ZipFile(archive) as members:
        entry = members.getinfo("input_data/tiny/model_3/weights.hdf5")
    good = archive.read_bytes()
    place = entry.header_offset + 30 + len(entry.filename) + entry.compress_size // 2
    archive.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
    line = refusal()
    assert line.startswith(f"pgdl: {server.url}/data.zip: damaged: found ")
    assert "the same command fetches this file again" in line
    archive.write_bytes(good)
    server.hits.clear()
    assert fetch().code == 0
    assert is_whole(server)
    assert len(server.hits) <= 4 + 29 - 2


def test_an_archive_that_changes_half_way_is_refused(refusal, server, monkeypatch, file):
    extract = transfer._extract

    def change(*arguments):
        server.etag = '"2"'
        return extract(*arguments)

    monkeypatch.setattr(transfer, "_extract", change)
    monkeypatch.setattr(transfer, "CONNECTIONS", 1)
    assert re.search(r'the archive has changed: expected .*\(ETag "1"\) as before, found ', refusal())


def test_a_file_that_is_another_one_later_stops_with_both(fetch, server, archive):
    fetch("small", "--models", "model_0")
    made = server.directory / "made"
    config = made / "input_data" / "tiny" / "model_0" / "config.json"
    config.write_bytes(config.read_bytes() + b"\n")
    with zipfile.ZipFile(archive, "w") as members:
        for path in sorted(made.rglob("*.*")):
            members.write(path, path.relative_to(made))
    ended = fetch()
    assert ended.code == 2
    assert "another model_0/config.json: expected " in ended.err
    assert f"found {config.stat().st_size} bytes, CRC-32 " in ended.err


def test_whole_answers_in_between_are_refused(server, file):
    find = remote.find_remote(Address(f"{server.url}/data.zip", "URL"))
    server.ranges = False
    with find.open() as reader, pytest.raises(UserError, match="the server sends whole files only, no parts"):
        reader.read(1)


def test_a_disk_that_is_too_small_or_fills_up_keeps_what_is_finished(fetch, refusal, server, monkeypatch, file):
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
        said = r"pgdl: tasks: disk too small: expected [\d.]+ kB of free disk space, found 100 B; free some"
        assert re.match(said, refusal())
        assert len(server.hits) <= 4, "nothing travels"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as patch:
        patch.setattr(transfer.os, "fsync", Mock(side_effect=chain([None] * 10, repeat(full))))
        assert "cannot be written: found No space left on device; the same command continues" in refusal()
    server.hits.clear()
    assert fetch().code == 0
    assert is_whole(server)
    assert len(server.hits) <= 4 + 29 - 5


def test_a_killed_process_is_continued(pgdl, fetch, server, file):
    """The process is killed after the third file; until the fetch ends, nothing counts as a task."""
    program = f"""if True:
        import itertools, os, signal
        from pathlib import Path
        from harness.cli.main import cli
        from harness.fetch import catalogue, staging
        catalogue.CATALOGUES = Path({str(file.parent)!r})
        add, number = staging.StagedTask.add, itertools.count(1)
        def add_and_die(*arguments):
            add(*arguments)
            if next(number) == 3:
                os.kill(os.getpid(), signal.SIGKILL)
        staging.StagedTask.add = add_and_die
        cli.main(["task", "fetch", "small", "--tasks", {str(TASKS)!r}])
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    assert subprocess.run([sys.executable, "-c", program], env=environment).returncode == -signal.SIGKILL
    journal = TASKS / ".fetching" / "tiny" / "journal"
    finished = [json.loads(line)["path"] for line in journal.read_text().splitlines()]
    assert len(finished) == 3
    inodes = {(journal.parent / "files" / path).stat().st_ino for path in finished}
    for refused in (["validate", TASKS], ["show", TASKS], ["list", TASKS], ["show", TASKS, "--task", "tiny"]):
        ended = pgdl("task", *refused)
        assert ended.code == 2
        assert ended.err.startswith("pgdl: tasks: half-fetched: tiny; repeat the command that began to fetch it")
    assert "half-fetched: tiny; repeat" in pgdl("run", "random", "--tasks", TASKS).err
    known = json.loads(pgdl("task", "known", "--tasks", TASKS, "--format", "json").out)
    assert known[0]["here"] == "half-fetched"
    assert fetch().code == 0
    assert is_whole(server)
    assert inodes <= {path.stat().st_ino for path in TASKS.rglob("*") if path.is_file()}  # moved, not fetched again


def test_a_move_that_was_interrupted_is_continued_and_refused_until_then(pgdl, fetch, server, monkeypatch, file):
    fetch("small", "--models", 2)
    real, moved = shutil.move, []

    def stop(source: Path, target: Path) -> Path:
        moved.append(source)
        if len(moved) == 5:
            raise KeyboardInterrupt
        return real(source, target)

    monkeypatch.setattr(shutil, "move", stop)
    assert fetch().code == 130
    for place in (TASKS, TASKS / "input_data", TASKS / "input_data" / "tiny"):
        assert "half-fetched: tiny" in pgdl("task", "validate", place).err
    monkeypatch.setattr(shutil, "move", real)
    server.hits.clear()
    assert fetch().code == 0
    assert is_whole(server)
    assert len(server.hits) <= 4


def test_what_an_earlier_archive_had_does_not_get_into_the_task(pgdl, fetch, server, file):
    """The fetch was interrupted after a shard that the archive's next version does not have."""
    kept = staging.StagedTask(TASKS, "tiny")
    kept.begin()
    left = kept.staged_path("dataset_1/train/shard_7.tfrecord")
    left.parent.mkdir(parents=True)
    left.write_bytes(b"of yesterday")
    assert fetch().code == 0
    assert is_whole(server)
    (TASKS / "input_data" / "tiny" / "dataset_1" / "train" / "shard_7.tfrecord").write_bytes(b"of somebody")
    ended = pgdl("task", "validate", TASKS)
    assert "shard_7.tfrecord: was not fetched with the task" in ended.out


def test_an_interrupted_corpus_is_half_fetched_with_all_of_its_tasks(pgdl, fetch, server, tmp_path, monkeypatch):
    """Otherwise the next command would fetch a smaller corpus, whose score means nothing. Whole tasks can be used."""
    tasks = ("one", "two")
    make_archive(server.directory / "data.zip", tasks)
    file = catalogue(tmp_path, server.url, tasks)
    with monkeypatch.context() as patch:
        patch.setattr(staging.StagedTask, "add", interrupt)
        assert fetch(file=file).code == 130
    assert "half-fetched: one, two" in pgdl("task", "validate", TASKS).err
    assert fetch("small/one", file=file).code == 0
    assert "name other tasks with --task" in pgdl("task", "validate", TASKS).err
    assert pgdl("task", "validate", TASKS, "--task", "one").code == 0
    assert "half-fetched: two; repeat" in pgdl("board", "--tasks", TASKS).err
    for command in (("board",), ("run", "no_measure")):
        assert "half-fetched" not in pgdl(*command, "--tasks", TASKS, "--task", "one").err
    assert fetch(file=file).code == 0
    assert is_whole(server)


def test_two_fetches_into_one_directory_do_not_meet(fetch, file):
    (TASKS / ".fetching").mkdir(parents=True)
    lock = os.open(TASKS / ".fetching" / corpus.LOCK, os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert "another pgdl task fetch is at work here" in fetch().err
    os.close(lock)
    assert fetch().code == 0


def test_a_smaller_part_keeps_what_was_fetched(pgdl, fetch, server, monkeypatch, file):
    with monkeypatch.context() as patch:
        patch.setattr(staging.StagedTask, "install", interrupt)
        assert fetch().code == 130
    ended = fetch("small", "--models", 2)
    assert "2 of 8 models" in ended.err
    assert "tiny: 18 files of other models, fetched before, are kept for later" in ended.err
    assert pgdl("task", "validate", TASKS).code == 0
    server.hits.clear()
    assert fetch().code == 0
    assert is_whole(server)
    assert len(server.hits) <= 4
    assert sorted(path.name for path in TASKS.iterdir()) == ["input_data", "reference_data"]


@pytest.mark.parametrize("part", ["header", "content"])
def test_a_damaged_member_is_named(refusal, server, file, part):
    archive = server.directory / "data.zip"
    with zipfile.ZipFile(archive) as members:
        entries = [one for one in members.infolist() if one.filename.startswith("input_data/tiny/model_")]
    entry = next(one for one in entries if one.compress_type == zipfile.ZIP_DEFLATED)
    begin = entry.header_offset + (30 + len(entry.filename) if part == "content" else 0)
    content = bytearray(archive.read_bytes())
    content[begin : begin + 4] = b"\xff\xff\xff\xff"
    archive.write_bytes(content)
    assert f"damaged: found {entry.filename.removeprefix('input_data/tiny/')}: " in refusal()
