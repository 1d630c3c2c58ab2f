"""Results that come back from the platform: one database and a verified site, without what was tampered with."""

import shutil
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from throwaway import GAPS

from harness import api
from harness.codabench import collection
from harness.codabench.results import KILLED, RECORDS, RESULT
from harness.codabench.seal import draw_key, write_key
from harness.format.archive import read_member
from harness.outcome import Outcome

#: Values in the order of the gaps, and others.
RIGHT, WRONG = list(GAPS), [0.3, 0.1, 0.4, 0.1, 0.5, 0.9, 0.2, 0.6]


def board(bundled, task="tiny"):
    rows = api.board(tasks_dir=bundled / "task_data", task_names=[task], results="results.db").board.rows
    scores = [None if row.score is None else round(row.score, 6) for row in rows]
    return [(row.submission, row.version, score) for row, score in zip(rows, scores, strict=True)]


def test_the_board_and_a_verified_site_are_built(export, collect, bundled, pgdl):
    ended = collect(export("ann", RIGHT), export("bob", WRONG, digest="d2"), "--html", "site")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == "Feedback: 2 submissions, 16 new calls in results.db"
    assert ended.out.splitlines()[1].startswith("Written and verified: site, digest of all records: ")
    (first, second) = board(bundled)
    assert (first[0], second[0]) == ("ann", "bob")
    assert first[2] == 100
    assert pgdl("verify", "site").code == 0


def test_downloads_are_named_by_their_folders(export, collect, bundled, folder):
    (folder / "carla").mkdir()
    export("x", RIGHT).rename(folder / "carla/prediction_result.zip")
    assert collect("carla/prediction_result.zip").code == 0
    assert [row[0] for row in board(bundled)] == ["carla"]


def test_a_link_gives_its_own_name(export, collect, bundled, folder):
    (folder / "dora.zip").symlink_to(export("x", RIGHT))
    assert collect("dora.zip").code == 0
    assert [row[0] for row in board(bundled)] == ["dora"]


def test_what_the_platform_ran_twice_counts_once(export, collect, bundled, folder):
    (folder / "again").mkdir()
    first = export("ann", RIGHT)
    second = export("again/ann", [2.0, *RIGHT[1:]], hours=1)
    ended = collect(second, first)
    assert "1 submission, 8 new calls" in ended.out
    assert "again/ann.zip: 1 calls had other values when they were made again; the first count" in ended.err
    assert board(bundled) == [("ann", "d1", 100)]
    assert "0 new calls" in collect(first).out


def test_a_participant_may_hand_in_again_what_another_has(export, collect, bundled):
    collect(export("ann", RIGHT), export("bob", RIGHT, hours=1))
    assert [row[:2] for row in board(bundled)] == [("ann", "d1"), ("bob", "d1")], "the board names both"


def test_the_latest_files_of_a_name_are_its_version(export, collect, bundled, folder):
    (folder / "again").mkdir()
    collect(export("again/ann", RIGHT, hours=1, digest="d2"), export("ann", WRONG))
    assert board(bundled) == [("ann", "d2", 100)]


def test_hidden_tasks_are_rounded(export, collect, bundled):
    ended = collect(export("ann", WRONG, phase=1), "--html", "site")
    assert ended.code == 0, ended.err
    ((_, _, score),) = board(bundled, "secret")
    assert score == round(score, 1)
    assert "0.9" not in Path("site/leaderboard.csv").read_text()


def test_what_is_missing_is_said(export, collect, bundled):
    ended = collect(export("ann", RIGHT[:5]), export("bob", RIGHT[:3], ended=KILLED))
    assert "ann.zip: the container's time ran out: 5 of 8 calls were made" in ended.err
    assert "bob.zip: the container was killed: 3 of 8 calls were made" in ended.err
    assert [row[2] for row in board(bundled)] == [None, None]


def edited(archive: Path, member: str, change: Callable[[Path], object]) -> None:
    """Change a file of an archive in place."""
    place = archive.with_suffix("")
    shutil.unpack_archive(archive, place)
    change(place / member)
    shutil.make_archive(str(place), "zip", place)


def better(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("update evaluations set value = 1 - value")
        connection.commit()


def test_files_that_are_not_of_the_result_are_not_unpacked(export, collect, bundled, monkeypatch):
    file, taken = export("ann", RIGHT), []
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}.predict", bytes(1000))
    monkeypatch.setattr(collection, "read_member", lambda *a: (taken.append(a[1]), read_member(*a))[1])
    assert collect(file).code == 0
    assert sorted(taken) == [RECORDS, RESULT, "tiny.predict"]


@pytest.mark.parametrize(
    ("member", "change", "said"),
    [
        (RECORDS, better, "records.db: changed after the ingestion program wrote it"),
        ("tiny.predict", lambda file: file.write_text("{}"), "tiny.predict: changed after the ingestion program wrote"),
        ("tiny.predict", Path.unlink, "tiny.predict: changed after the ingestion program wrote it: expected"),
        (
            RESULT, lambda file: file.write_text(file.read_text().replace('"recorded": 8', '"recorded": 7')),
            "result.json: changed after the ingestion program wrote it: found a seal that does not fit",
        ),
        (RESULT, lambda file: file.write_text("{}"), "result.json: not a sealed result"),
        (RESULT, lambda file: file.write_text("[" * 100_000), "result.json: not a sealed result"),
        (RESULT, Path.unlink, "result.json: no result of the ingestion program"),
    ],
    ids=["records", "predictions", "no predictions", "result", "empty", "nested", "no result"],
)  # fmt: skip
def test_what_was_tampered_with_is_named_and_left_out(export, collect, bundled, member, change, said):
    bad = export("eve", RIGHT)
    edited(bad, member, change)
    ended = collect(bad, export("ann", WRONG))
    assert ended.code == 0
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
    assert [row[0] for row in board(bundled)] == ["ann"]


def journal_of(database: Path, change: Callable[[Path], object]) -> bytes:
    """Return a journal that makes a change when SQLite opens the database, which stays as it is until then."""
    changed, size = database.with_suffix(".changed"), 4096
    shutil.copy(database, changed)
    change(changed)
    before, after = ([file[n : n + size] for n in range(0, len(file), size)] for file in (
        database.read_bytes(), changed.read_bytes()
    ))  # fmt: skip
    changed.unlink()
    different = [n for n, page in enumerate(before) if page != after[n]]
    header = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", len(different), 0, len(before), 512, size)
    pages = [
        struct.pack(">I", n + 1) + after[n] + struct.pack(">I", sum(after[n][size - 200 : 0 : -200])) for n in different
    ]
    return header.ljust(512, b"\0") + b"".join(pages)


def test_what_sqlite_would_add_to_sealed_records_is_refused(export, collect, folder):
    archive, place = export("eve", WRONG), folder / "eve"
    shutil.unpack_archive(archive, place)
    journal = journal_of(place / RECORDS, better)
    (place / f"{RECORDS}-journal").write_bytes(journal)
    ended = collect(place)
    assert ended.code == 2
    assert (
        f"eve/{RECORDS}-journal: changed after the ingestion program wrote it: found a file that SQLite would"
        in ended.err
    )
    with closing(sqlite3.connect(place / RECORDS)) as connection:  # SQLite applies it
        ((value,),) = connection.execute("select value from evaluations limit 1")
    assert value == 1 - WRONG[0]


def test_an_export_of_another_competition_is_refused(export, collect, folder):
    write_key(folder / "other.key", draw_key())
    ended = collect(export("ann", RIGHT, key=folder / "other.key"))
    assert ended.code == 2
    said = "pgdl: left out: ann.zip: result.json: a result of another competition, or of a bundle with another key"
    assert ended.err.splitlines()[0].replace(f"{folder}/", "") == said
    assert ended.err.splitlines()[-1] == "no export can be used"
    assert not Path("results.db").exists()


def test_two_phases_are_not_mixed(export, collect):
    ended = collect(export("ann", RIGHT), export("bob", RIGHT, phase=1))
    assert ended.code == 2
    assert "of several phases: found 'Feedback'" in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("ann.zip", b"PK\x03\x04 cut off", "ann.zip: damaged: expected a whole zip archive"),
        ("vc-dim.zip", b"", "vc-dim.zip: cannot be called 'vc-dim': vc_dim is a measure of the library"),
        ("ä.zip", b"", "cannot be the name of a submission"),
    ],
    ids=["damaged", "measure", "letters"],
)
def test_files_that_are_no_exports_are_refused_in_a_line(collect, folder, name, content, said):
    (folder / name).write_bytes(content)
    ended = collect(name)
    assert ended.code == 2
    assert said in ended.err


def test_failures_come_back_as_they_were(export, collect, bundled):
    collect(export("ann", [*RIGHT[:7], None]))
    assert board(bundled) == [("ann", "d1", 0)]


def test_what_a_machine_failed_on_is_no_result_and_a_later_one_counts(export, collect, bundled, folder):
    (folder / "again").mkdir()
    first = export("ann", RIGHT, outcome=Outcome.INFRA_ERROR)
    ended = collect(first, export("again/ann", RIGHT, hours=1))
    assert "8 new calls" in ended.out
    assert board(bundled) == [("ann", "d1", 100)]
