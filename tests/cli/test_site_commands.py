"""Tests of `pgdl board --html`, `pgdl verify` and `pgdl report`."""

import json
from pathlib import Path

import pytest
from in_process import Pgdl, Record

import pgdl as api
from harness.board import insight
from tests.board.board_examples import write_reference
from tests.site.site_examples import page_of


@pytest.mark.usefixtures("three_submissions")
def test_a_site_is_written_verified_and_found_to_be_changed(pgdl: Pgdl, folder: Path) -> None:
    ended = pgdl("board", "--html", "site")
    assert ended.code == 0
    assert "Written: site/index.html (digest of all records: " in ended.err
    digest = ended.err.rstrip().rstrip(")").rpartition(" ")[2]
    verified = pgdl("verify", "site")
    assert (verified.code, verified.err, verified.lines[-1]) == (0, "", f"Digest of all records: {digest}")
    assert "no layer" in (folder / "site/submissions/half.html").read_text()
    (folder / "site/reading.html").write_text("x")
    changed = pgdl("verify", "site")
    assert (changed.code, len(changed.lines), changed.out[:22]) == (1, 1, "reading.html: line 1: ")


@pytest.mark.usefixtures("three_submissions")
@pytest.mark.parametrize(
    "arguments",
    ["board --html papers", "board --html circle --output b", "board --html s --output circle", "verify papers",
     "verify circle", "verify nothing"],
)  # fmt: skip
def test_bad_directories_are_one_line(arguments: str, pgdl: Pgdl, folder: Path) -> None:
    (folder / "papers").mkdir()
    (folder / "circle").symlink_to("circle")  # leads nowhere
    (folder / "papers/thesis").touch()
    pgdl(*arguments.split()).refusal()
    assert (folder / "papers/thesis").exists()


@pytest.mark.parametrize("output", ["site", "./site/", "site/files"])
def test_the_files_of_output_do_not_lie_in_a_site(output: str, pgdl: Pgdl, folder: Path) -> None:
    """Otherwise `pgdl verify` would not accept the site, and the same command could not replace it."""
    refusal = pgdl("board", "--html", "site", "--output", output).refusal()
    assert "--output: expected a directory outside of --html, which has only a site" in refusal
    assert not (folder / "site").exists()


@pytest.mark.usefixtures("three_submissions")
def test_the_current_directory_can_be_a_site(pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    shared = ("--tasks", folder / "task_data", "--results", folder / "results.db")
    for _ in range(2):
        assert pgdl("board", "--html", ".", *shared).code == 0
    assert pgdl("verify", ".").code == 0


@pytest.mark.usefixtures("three_submissions")
def test_a_report_says_why_and_what_next_of_some_or_of_everybody(pgdl: Pgdl, folder: Path) -> None:
    ended = pgdl("report", "weak", "half", "--html", "reports")
    assert ended.code == 0
    assert "Score 29.54 (90 % interval" in ended.out
    assert "The measure adds least to what axis_a and axis_b already tell: 29.54 of 100." in " ".join(ended.out.split())
    assert "1 EXCEPTION: ValueError: no layer" in " ".join(ended.out.split())
    assert "winner" not in ended.out
    assert sorted(path.name for path in (folder / "reports").iterdir()) == ["half.html", "weak.html"]
    out = pgdl("report").out.splitlines()
    assert [line for line in out if line in ("winner", "weak", "half")] == ["winner", "weak", "half"]


@pytest.mark.usefixtures("three_submissions")
def test_a_report_explains_nobody_else_and_is_the_page_of_the_site(pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    """For other submissions only scores are computed: explaining all rows of a large board takes most of the time."""
    explained: list[object] = []
    monkeypatch.setattr(insight, "_insight", lambda task, make=insight._insight: explained.append(task) or make(task))
    (page,) = api.report("weak").pages
    assert len(explained) == 1
    (part,) = page_of(api.board(with_site=True).site, "weak")["parts"]
    assert part["insight"] == page["parts"][0]["insight"]


@pytest.mark.usefixtures("three_submissions")
def test_a_report_has_the_remarks_of_the_score(pgdl: Pgdl, folder: Path) -> None:
    remarks = json.loads(pgdl("score", "weak", "--format", "json").out)["remarks"]
    missing = "toy: its models are missing, so it cannot be checked whether records are of these models"
    assert f"{missing}, and standard errors of scores are not split into gap_error and model_error" in remarks
    ended = pgdl("report", "weak", "--html", "reports")
    assert ended.out.splitlines()[-len(remarks) :] == remarks
    assert all(f"<li>{line}</li>" in (folder / "reports/weak.html").read_text() for line in remarks)
    assert json.loads(pgdl("report", "weak", "--format", "json").out)["remarks"] == remarks


@pytest.mark.usefixtures("three_submissions")
def test_notes_on_a_hidden_task_tell_nothing_of_its_models(pgdl: Pgdl, folder: Path) -> None:
    write_reference(folder / "task_data", gaps=[0.265] * 8)
    assert "all 8 generalization gaps are 0.265" in pgdl("board").out
    write_reference(folder / "task_data", gaps=[0.265] * 8, hidden=True)
    for arguments in (("board", "--html", "site"), ("score",)):
        assert "0.265" not in pgdl(*arguments).out
    assert not any(b"0.265" in path.read_bytes() for path in (folder / "site").rglob("*.*") if path.suffix != ".js")


def test_no_records_are_one_line(pgdl: Pgdl, folder: Path, record: Record) -> None:
    write_reference(folder / "task_data")
    record([])
    pgdl("report").refusal()
    assert [pgdl("board", "--html", "site").code, pgdl("verify", "site").code] == [0, 0]
