"""Tests of refused fetches: one line with a remedy, and no leftovers; archives are not trusted."""

import shutil
import stat
import zipfile

import pytest

from harness.fetch.catalogue import corpora
from tests.fetch.archives import TASKS, catalogue, make_archive
from tests.throwaway import edit_json


def test_misspelt_names_have_hints(pgdl):
    def told(*arguments: object) -> str:
        ended = pgdl("task", "fetch", *arguments, "--tasks", TASKS)
        assert ended.code == 2
        return ended.err

    assert told("pgdl2002/task8").endswith("or an address; did you mean 'pgdl2020'?\n")
    assert told("pgdl2020/taks8").endswith("phase_two, task6, task7, task8, task9; did you mean 'task8'?\n")
    assert told("pgdl2020/phase_to").endswith("did you mean 'phase_two'?\n")
    assert "--models: expected with the name of a corpus" in told("https://example.org/x.zip", "--models", 3)
    assert "--sha256: expected with the URL" in told("pgdl2020", "--sha256", "0" * 64)
    assert not TASKS.exists()


def test_a_model_that_does_not_exist(refusal, archive):
    line = refusal("small", "--models", "model_0,modle_3")
    assert line == "pgdl: --models: no model 'modle_3' in tiny: expected some of 8; did you mean 'model_3'?"


def test_names_in_the_catalogues_are_unique():
    for corpus in corpora().values():
        names = [task.name for _, task in corpus.entries()] + [archive.phase for archive in corpus.archives]
        assert len(set(names)) == len(names)


def test_another_archive_than_the_catalogue_says(refusal, server, archive, tmp_path):
    said = "another archive than the catalogue says: expected"
    line = refusal(file=catalogue(tmp_path, server.url, ("tinny",)))
    assert line.endswith(f"{said} tinny, found tiny; did you mean 'tiny'?")
    line = refusal(file=catalogue(tmp_path, server.url, task="models = 9\n"))
    assert line.endswith(f"{said} 9 models of tiny, found 8")
    (server.directory / "data.zip").write_bytes(b"<html>" * 1000)
    assert "damaged: expected the directory of a zip archive" in refusal()


def test_a_task_that_lacks_a_file(refusal, server):
    make_archive(server.directory / "made.zip")
    (server.directory / "made" / "reference_data" / "tiny" / "model_configs.json").unlink()
    make_archive(server.directory / "data.zip", tasks=())
    assert refusal().endswith("no whole task tiny: expected model_configs.json, found no such member")


def test_a_task_that_was_not_fetched_stays_as_it_is(fetch, server, archive):
    shutil.copytree(server.directory / "made", TASKS)
    assert "input_data/tiny: exists already: found a task that was not fetched; remove it" in fetch().err


def test_a_record_that_somebody_wrote_is_not_trusted(pgdl, fetch, archive):
    fetch()
    file = TASKS / "reference_data" / "tiny" / "fetched.json"
    for change, problem in (
        ({"source": "\x1b[31m/x"}, r"expected CORPUS/TASK, and integers, found '\x1b[31m/x'"),
        ({"source": "small/tiny", "models": "many"}, "expected CORPUS/TASK, and integers"),
        ({"models": 8, "surplus": 1}, "not a record of pgdl task fetch"),
    ):
        edit_json(file, lambda record, change=change: record.update(change))
        line, verdict = pgdl("task", "validate", TASKS).lines
        assert problem in line
        assert verdict == "tiny: 1 problem: invalid"
        assert "\x1b" not in line


LINK = zipfile.ZipInfo("input_data/tiny/model_0/weights_init.hdf5")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16
NO_PATH, TWICE = "expected a path inside the archive", "two files of one name: model_0/config.json"


@pytest.mark.parametrize(
    ("member", "problem"),
    [
        (LINK, "expected a regular file"),
        ("input_data/tiny/../../../evil", NO_PATH),
        ("/input_data/tiny/model_8/config.json", NO_PATH),
        ("input_data/tiny/model_\x1b[31m8/config.json", "model_?[31m8/config.json: expected a path"),
        ("input_data/tiny/model_8\\..\\config.json", NO_PATH),
        ("input_data/tiny/model_0/config.json", TWICE),
        ("other/input_data/tiny/model_0/config.json", TWICE),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_leads_outside_is_refused(refusal, server, tmp_path, member, problem):
    make_archive(server.directory / "data.zip", more=lambda archive: archive.writestr(member, b""))
    line = refusal()
    assert ": cannot be unpacked: " in line
    assert problem in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["catalogues", "folder", "served"]


def test_members_of_no_task_are_left_alone(fetch, server):
    def more(archive: zipfile.ZipFile) -> None:
        archive.writestr("/etc/evil", b"")
        archive.writestr("input_data/tiny/.DS_Store", b"")
        archive.writestr("input_data/tiny/model_0/secret.txt", b"")
        archive.writestr("input_data/tiny/.model_9/config.json", b"")

    make_archive(server.directory / "data.zip", more=more)
    assert fetch().code == 0
    assert len(list(TASKS.rglob("*.json"))) == 10  # of eight models, the reference data, and the record
    assert not list(TASKS.rglob("secret.txt"))


def test_bombs_are_refused_before_they_are_unpacked(refusal, server, monkeypatch):
    from harness.fetch import listing
    from harness.format import archive

    make_archive(server.directory / "data.zip", n_train=240)
    for place, limit, value, problem in (
        (listing, "MAX_FILES", 10, "expected at most 10 files, found "),
        (listing, "MAX_JSON", 100, "model_configs.json: expected at most 100 bytes"),
        (listing, "MAX_BYTES", 1000, "GiB of files, found more"),
        (archive, "MAX_RATIO", 1, "expected at most 1 times its packed size"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(archive, "SUSPECT_BYTES", 100)
            patched.setattr(place, limit, value)
            assert problem in refusal()


def test_no_network(refusal, tmp_path):
    line = refusal(file=catalogue(tmp_path, "http://127.0.0.1:1"))
    assert "127.0.0.1 cannot be reached: found " in line
    remedy = "check the network (a proxy is named by HTTPS_PROXY); the same command continues"
    assert line.endswith(f"Connection refused; {remedy}")
    assert "<" not in line


def test_a_member_outside_of_the_archive_is_refused(refusal, archive):
    content = bytearray(archive.read_bytes())
    first = content.index(b"PK\x01\x02")  # of the directory
    content[first + 42 : first + 46] = (2**31).to_bytes(4, "little")
    archive.write_bytes(content)
    assert "a member that begins outside of the archive" in refusal()


def test_a_certificate_that_nobody_vouches_for(refusal, encrypted, tmp_path):
    line = refusal(file=catalogue(tmp_path, encrypted.url))
    assert "the certificate of 127.0.0.1 is not accepted: found " in line
    assert "REQUESTS_CA_BUNDLE names the file" in line
