"""Tests of tasks of a corpus: only their members are downloaded, and the tasks equal those in the whole archive."""

import json
import shutil
from pathlib import Path

import pytest

from harness.digest import digest_of_file
from tests.fetch.archives import FAR, TASKS, catalogue, content, make_archive
from tests.throwaway import make_task


@pytest.mark.parametrize(
    "kind",
    [{}, {"force_zip64": True}, {"begin": FAR}, {"others": 10_000}, {"prefix": "public_data/"}],
    ids=["plain", "zip64", "beyond 4 GiB", "10,000 members", "below a directory"],
)
def test_a_task_is_what_the_archive_holds(pgdl, fetch, server, kind):
    make_archive(server.directory / "data.zip", **kind)
    ended = fetch()
    assert ended.code == 0, ended.err
    assert content(TASKS) == content(server.directory / "made")
    assert sorted(path.name for path in TASKS.iterdir()) == ["input_data", "reference_data"]
    assert pgdl("task", "validate", TASKS).out.startswith("tiny: 8 models, 3 hyperparameters, 24 training samples")
    before = len(server.hits)
    again = fetch()
    assert "is there already, 8 models" in again.err
    assert len(server.hits) <= before + 4  # the directory of the archive alone


def test_only_what_is_asked_for_travels(fetch, server, tmp_path):
    tasks = ("one", "two")
    archive = make_archive(server.directory / "data.zip", tasks, n_train=2400)
    fetch("small/two", "--models", 2, file=catalogue(tmp_path, server.url, tasks))
    assert sorted(path.name for path in (TASKS / "input_data").iterdir()) == ["two"]
    assert server.sent < archive.stat().st_size * 0.6
    assert len(server.hits) == len(set(server.hits)) + 1  # only the directory twice, which was not all in the tail


def test_a_phase_is_all_of_its_tasks(pgdl, fetch, server, tmp_path):
    tasks = ("one", "two")
    make_archive(server.directory / "data.zip", tasks)
    file = catalogue(tmp_path, server.url, tasks)
    fetched = json.loads(fetch("small/first", "--format", "json", file=file).out)["fetched"]
    assert [(one["task"], one["models"], one["is_new"]) for one in fetched] == [("one", 8, True), ("two", 8, True)]
    known = json.loads(pgdl("task", "known", "--tasks", TASKS, "--format", "json").out)
    assert [(one["task"], one["here"], one["models"]) for one in known] == [(name, "whole", None) for name in tasks]
    shown = pgdl("task", "known", "--tasks", TASKS).out
    assert "not yet known" in shown
    assert "1.0 MB" in shown


def test_a_part_is_a_task_that_says_so_and_is_extended_by_the_same_command(pgdl, fetch, server, archive):
    assert "a part of small/tiny: 3 of 8 models" in fetch("small/tiny", "--models", 3).err
    assert "tiny: 3 models" in (validated := pgdl("task", "validate", TASKS)).out
    assert "tiny: note: a part of small/tiny: 3 of 8 models" in validated.out
    assert "a part of small/tiny: 3 of 8 models" in pgdl("task", "show", TASKS).out
    three = models()
    server.hits.clear()
    fetch("small/tiny", "--models", 5)
    assert len(models()) == 5
    assert models() > three
    assert len(server.hits) == 4 + 3 * 2 + 1  # the directory, three files of two models, and the reference data
    fetch("small/tiny", "--models", "model_0,model_7")
    assert models() >= {"model_0", "model_7"}
    shutil.rmtree(TASKS / "input_data")
    assert "5 of 8 models" in fetch("small", "--models", 5).err
    assert len(models()) == 5
    assert pgdl("task", "validate", TASKS).code == 0
    fetch()
    assert content(TASKS) == content(server.directory / "made")
    assert "part" not in pgdl("task", "validate", TASKS).out


def models() -> set[str]:
    return {path.name for path in (TASKS / "input_data" / "tiny").glob("model_*")}


def test_digests_that_were_seen_are_kept_and_pinned_ones_are_compared(pgdl, fetch, server, archive, tmp_path):
    ended = fetch()
    assert ended.err.count("not yet known to the catalogue") == 2
    record = json.loads((TASKS / "reference_data" / "tiny" / "fetched.json").read_text())
    assert (record["etag"], record["length"]) == ('"1"', (server.directory / "data.zip").stat().st_size)
    seen, zeros = record["directory_sha256"], "0" * 64
    assert f"SHA-256 of its directory {seen}" in ended.err
    pins = {"more": f"expected {zeros}, found {seen}", "task": f"SHA-256 of all files: expected {zeros}, found "}
    for place, said in pins.items():
        pinned = catalogue(tmp_path, server.url, **{place: f'sha256 = "{zeros}"'})
        refused = fetch("small", "--tasks", "elsewhere", file=pinned)
        assert (refused.code, said in refused.err) == (2, True), refused
    assert not Path("elsewhere", "input_data").exists()
    config = TASKS / "input_data" / "tiny" / "model_1" / "config.json"
    config.write_bytes(config.read_bytes() + b" ")
    validated = pgdl("task", "validate", TASKS)
    assert validated.code == 2
    assert "model_1/config.json: not as it was fetched: expected SHA-256" in validated.out
    reference = TASKS / "reference_data" / "tiny" / "model_configs.json"
    reference.write_bytes(reference.read_bytes() + b" ")
    assert f"{reference}: not as it was fetched: expected SHA-256" in pgdl("task", "validate", TASKS).out


def test_a_server_without_parts_says_so_with_a_remedy_that_works(pgdl, fetch, server):
    archive = make_archive(server.directory / "data.zip", prefix="public_data/")
    server.ranges = False
    assert fetch().err == (
        f"pgdl: {server.url}/data.zip: the server sends whole files only, no parts; download it with a browser, and "
        "unpack it with `pgdl task fetch file:///PATH --sha256 HEX`\n"
    )
    assert pgdl("task", "fetch", archive.as_uri(), "--sha256", digest_of_file(archive), "--tasks", TASKS).code == 0
    assert pgdl("task", "validate", TASKS).out.startswith("tiny: 8 models")


@pytest.mark.rest
@pytest.mark.parametrize(
    "lost",
    [
        "input_data/tiny", "input_data/tiny/model_3", "input_data/tiny/model_3/weights.hdf5",
        "input_data/tiny/dataset_1", "reference_data/tiny/model_configs.json",
    ],
)  # fmt: skip
def test_files_that_were_removed_or_cut_off_are_fetched_again(pgdl, fetch, server, archive, lost):
    assert fetch("small", "--quiet") == fetch("small", "--quiet") == (0, "", "")
    (TASKS / "input_data/tiny/model_3/weights.hdf5").write_bytes(b"half")
    fetch()
    assert content(TASKS) == content(server.directory / "made")
    shutil.rmtree(TASKS / lost) if (TASKS / lost).is_dir() else (TASKS / lost).unlink()
    known = json.loads(pgdl("task", "known", "--format", "json", "--tasks", TASKS).out)
    assert known[0]["here"] == "files missing"
    assert "fetched, 8 models" in fetch().err
    assert content(TASKS) == content(server.directory / "made")


def test_tasks_in_the_flat_layout_are_not_hidden(pgdl, fetch, archive):
    make_task(TASKS, name="mine")
    ended = fetch()
    assert ended.code == 2
    assert "tasks: cannot take another task: expected no tasks, or input_data/TASK, found mine in the flat" in ended.err
    assert "mine" in pgdl("task", "list", TASKS).out
