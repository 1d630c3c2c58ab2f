"""Tasks of a corpus: only what is asked for travels, and what is there at the end is what the archive holds."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from in_process import Pgdl

from tests.fetch.archives import FAR, catalogue, files_of, make_archive
from tests.fetch.servers import Served
from tests.throwaway import make_task

TASKS = Path("tasks")


def fetch(pgdl: Pgdl, file: Path, what: str = "small", *more: object):
    return pgdl("task", "fetch", what, "--catalogue", file, "--tasks", TASKS, *more)


def content(directory: Path) -> dict[str, bytes]:
    """The files of the tasks, without the records of where they come from."""
    return {name: data for name, data in files_of(directory) if not name.endswith("fetched.json")}


@pytest.mark.parametrize(
    "kind",
    [{}, {"force_zip64": True}, {"begin": FAR}, {"others": 10_000}, {"prefix": "public_data/"}],
    ids=["plain", "zip64", "beyond 4 GiB", "10,000 members", "below a directory"],
)
def test_a_task_is_what_the_archive_holds(pgdl: Pgdl, server: Served, tmp_path: Path, kind: dict) -> None:
    make_archive(server.directory / "data.zip", **kind)
    ended = fetch(pgdl, catalogue(tmp_path, server.url))
    assert ended.code == 0, ended.err
    assert content(TASKS) == content(server.directory / "made")
    assert sorted(path.name for path in TASKS.iterdir()) == ["input_data", "reference_data"]
    assert pgdl("task", "validate", TASKS).out.startswith("tiny: 8 models, 3 hyperparameters, 24 training samples")
    before = len(server.hits)
    again = fetch(pgdl, tmp_path / "small.toml")
    assert "is there already, 8 models" in again.err
    assert len(server.hits) <= before + 4  # the directory of the archive alone


def test_quiet(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    make_archive(server.directory / "data.zip")
    file = catalogue(tmp_path, server.url)
    for _ in ("fetched", "is there already"):
        assert fetch(pgdl, file, "small", "--quiet") == (0, "", "")


def test_only_what_is_asked_for_travels(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    tasks = ("one", "two")
    archive = make_archive(server.directory / "data.zip", tasks, n_train=2400)
    fetch(pgdl, catalogue(tmp_path, server.url, tasks), "small/two", "--models", 2)
    assert sorted(path.name for path in (TASKS / "input_data").iterdir()) == ["two"]
    assert server.sent < archive.stat().st_size * 0.6
    assert (
        len(server.hits) == len(set(server.hits)) + 1
    )  # nothing twice but the directory, which was not all in the tail


def test_a_phase_is_all_of_its_tasks(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    tasks = ("one", "two")
    make_archive(server.directory / "data.zip", tasks)
    file = catalogue(tmp_path, server.url, tasks)
    fetched = json.loads(fetch(pgdl, file, "small/first", "--format", "json").out)["fetched"]
    assert [(one["task"], one["models"], one["is_new"]) for one in fetched] == [("one", 8, True), ("two", 8, True)]
    known = json.loads(pgdl("task", "known", "--catalogue", file, "--tasks", TASKS, "--format", "json").out)
    assert [(one["task"], one["here"], one["models"]) for one in known] == [(name, "whole", None) for name in tasks]
    shown = pgdl("task", "known", "--catalogue", file, "--tasks", TASKS).out
    assert "not yet known" in shown
    assert "1.0 MB" in shown


def test_a_part_is_a_task_that_says_so_and_is_extended_by_the_same_command(
    pgdl: Pgdl, server: Served, tmp_path: Path
) -> None:
    make_archive(server.directory / "data.zip")
    file = catalogue(tmp_path, server.url)
    assert "a part of small/tiny: 3 of 8 models" in fetch(pgdl, file, "small/tiny", "--models", 3).err
    assert "tiny: 3 models" in (validated := pgdl("task", "validate", TASKS)).out
    assert "tiny: note: a part of small/tiny: 3 of 8 models" in validated.out
    assert "a part of small/tiny: 3 of 8 models" in pgdl("task", "show", TASKS).out
    three = models()
    server.hits.clear()
    fetch(pgdl, file, "small/tiny", "--models", 5)
    assert len(models()) == 5
    assert models() > three
    assert len(server.hits) == 4 + 3 * 2 + 1  # the directory, three files of two models, and the reference data
    fetch(pgdl, file, "small/tiny", "--models", "model_0,model_7")
    assert models() >= {"model_0", "model_7"}
    fetch(pgdl, file)
    assert content(TASKS) == content(server.directory / "made")
    assert "part" not in pgdl("task", "validate", TASKS).out


def models() -> set[str]:
    return {path.name for path in (TASKS / "input_data" / "tiny").glob("model_*")}


def test_what_a_server_redirects_to_is_fetched(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    from tests.fetch.servers import serve

    make_archive(server.directory / "data.zip")
    with serve(tmp_path) as first:
        first.redirect_to = server.url
        assert fetch(pgdl, catalogue(tmp_path, first.url)).code == 0
    assert len(models()) == 8


def test_a_catalogue_may_be_an_address_with_a_digest(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    import hashlib

    make_archive(server.directory / "data.zip")
    file = catalogue(server.directory, server.url)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    address = f"{server.url}/small.toml"
    assert fetch(pgdl, address, "small", "--sha256", digest).code == 0
    assert "another catalogue than the expected one" in fetch(pgdl, address, "small", "--sha256", "0" * 64).err
    assert "--sha256 is missing" in fetch(pgdl, address).err


def test_digests_that_were_seen_are_kept_and_pinned_ones_are_compared(
    pgdl: Pgdl, server: Served, tmp_path: Path
) -> None:
    make_archive(server.directory / "data.zip")
    ended = fetch(pgdl, catalogue(tmp_path, server.url))
    assert ended.err.count("not yet known to the catalogue") == 2
    record = json.loads((TASKS / "reference_data" / "tiny" / "fetched.json").read_text())
    assert record["etag"] == '"1"'
    assert record["length"] == (server.directory / "data.zip").stat().st_size
    assert f"SHA-256 of its directory {record['directory_sha256']}" in ended.err
    pinned = catalogue(tmp_path, server.url, more=f'sha256 = "{"0" * 64}"')
    refused = fetch(pgdl, pinned, "small", "--tasks", "elsewhere")
    assert refused.code == 2
    assert f"expected {'0' * 64}, found {record['directory_sha256']}" in refused.err
    pinned = catalogue(tmp_path, server.url, task=f'sha256 = "{"0" * 64}"')
    refused = fetch(pgdl, pinned, "small", "--tasks", "elsewhere")
    assert f"SHA-256 of all files: expected {'0' * 64}, found " in refused.err
    assert not Path("elsewhere", "input_data").exists()


def test_validate_compares_with_the_digests_of_the_fetch(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    make_archive(server.directory / "data.zip")
    fetch(pgdl, catalogue(tmp_path, server.url))
    task = TASKS / "input_data" / "tiny"
    (task / "model_1" / "config.json").write_bytes((task / "model_1" / "config.json").read_bytes() + b" ")
    ended = pgdl("task", "validate", TASKS)
    assert ended.code == 2
    assert "model_1/config.json: not as it was fetched: expected SHA-256" in ended.out


def test_a_server_without_parts_says_so_and_the_whole_archive_can_be_fetched(
    pgdl: Pgdl, server: Served, tmp_path: Path
) -> None:
    make_archive(server.directory / "data.zip")
    server.ranges = False
    file = catalogue(tmp_path, server.url)
    refused = fetch(pgdl, file)
    assert refused.err == (
        f"pgdl: {server.url}/data.zip: the server sends whole files only, no parts; --whole fetches the whole archive\n"
    )
    assert fetch(pgdl, file, "small", "--whole").code == 0
    assert content(TASKS) == content(server.directory / "made")
    assert sorted(path.name for path in TASKS.iterdir()) == ["input_data", "reference_data"]


def test_the_archive_of_the_tests_is_what_it_says(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "data.zip", begin=FAR)
    with zipfile.ZipFile(archive) as members:
        assert min(entry.header_offset for entry in members.infolist()) > 2**32
        assert {entry.compress_type for entry in members.infolist()} == {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


@pytest.mark.parametrize(
    "lost",
    [
        "input_data/tiny", "input_data/tiny/model_3", "input_data/tiny/model_3/weights.hdf5",
        "input_data/tiny/dataset_1", "reference_data/tiny/model_configs.json",
    ],
)  # fmt: skip
def test_files_that_were_removed_are_fetched_again(pgdl: Pgdl, server: Served, tmp_path: Path, lost: str) -> None:
    make_archive(server.directory / "data.zip")
    file = catalogue(tmp_path, server.url)
    fetch(pgdl, file)
    shutil.rmtree(TASKS / lost) if (TASKS / lost).is_dir() else (TASKS / lost).unlink()
    known = json.loads(pgdl("task", "known", "--catalogue", file, "--tasks", TASKS, "--format", "json").out)
    assert known[0]["here"] == "files missing"
    assert "fetched, 8 models" in fetch(pgdl, file).err
    assert content(TASKS) == content(server.directory / "made")


def test_a_file_that_was_cut_off_since_is_fetched_again(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    make_archive(server.directory / "data.zip")
    fetch(pgdl, file := catalogue(tmp_path, server.url))
    (TASKS / "input_data" / "tiny" / "model_3" / "weights.hdf5").write_bytes(b"half")
    fetch(pgdl, file)
    assert content(TASKS) == content(server.directory / "made")


def test_a_part_that_was_removed_is_no_part_of_what_is_fetched_next(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    make_archive(server.directory / "data.zip")
    file = catalogue(tmp_path, server.url)
    fetch(pgdl, file, "small", "--models", 3)
    shutil.rmtree(TASKS / "input_data")
    assert "5 of 8 models" in fetch(pgdl, file, "small", "--models", 5).err
    assert len(models()) == 5
    assert pgdl("task", "validate", TASKS).code == 0


def test_the_archives_version_is_kept_if_all_of_it_is_fetched(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    make_archive(server.directory / "data.zip")
    assert 'ETag "1"' in fetch(pgdl, catalogue(tmp_path, server.url), "small", "--whole").err
    assert json.loads((TASKS / "reference_data" / "tiny" / "fetched.json").read_text())["etag"] == '"1"'


@pytest.mark.parametrize("more", [[], ["--whole"]], ids=["parts", "whole"])
def test_an_address_keeps_its_secrets(pgdl: Pgdl, server: Served, tmp_path: Path, more: list[str]) -> None:
    make_archive(server.directory / "data.zip")
    file = catalogue(tmp_path, server.url.replace("//", "//me:secret@"))
    file.write_text(file.read_text().replace("data.zip", "data.zip?signature=secret"))
    ended = fetch(pgdl, file, "small", *more)
    assert ended.code == 0
    assert f"{server.url}/data.zip: " in ended.err
    shown = pgdl("task", "show", TASKS)
    record = (TASKS / "reference_data" / "tiny" / "fetched.json").read_text()
    assert "secret" not in ended.err + shown.out + shown.err + record
    assert "is there already" in fetch(pgdl, file, "small", *more).err


def test_tasks_in_the_flat_layout_are_not_hidden(pgdl: Pgdl, server: Served, tmp_path: Path) -> None:
    make_archive(server.directory / "data.zip")
    make_task(TASKS, name="mine")
    ended = fetch(pgdl, catalogue(tmp_path, server.url))
    assert ended.code == 2
    assert "tasks: cannot take another task: expected no tasks, or input_data/TASK, found mine in the flat" in ended.err
    assert "mine" in pgdl("task", "list", TASKS).out
