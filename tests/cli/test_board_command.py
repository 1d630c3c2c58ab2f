"""Tests of `pgdl board`, `pgdl verify` and `pgdl report`: the leaderboard on the terminal, in files and as a site."""

import csv
import json
import re
from pathlib import Path

import pytest
from in_process import Pgdl, Record

import pgdl as api
from harness.board import insight
from harness.board.columns import SECONDS_NOTE
from harness.cli.formats import EXPLAINED
from harness.format.reference import read_reference
from harness.outcome import Outcome
from scoring import RULE, sign_errors
from tests.board.board_examples import GAPS, MEASURE, OFFICIAL, failed, rows, write_reference
from tests.site.site_examples import page_of

NAMES = ["winner", "path_norm", "late", "broken", "bold"]


@pytest.fixture
def results(folder: Path, record: Record) -> Path:
    write_reference(folder / "task_data")
    others = [failed("late", "model_0", Outcome.TIMEOUT), failed("broken", "model_0", Outcome.CRASH)]
    known = [*rows("winner", GAPS), *rows("path_norm", MEASURE, is_baseline=True), *rows("late", GAPS)]
    return record([*known, *others, *rows("bold", GAPS, sandbox="none")])


#: From 10.1 to 59.2 of 0 to 100: the score at 29.54, and chance at 25.5.
LINE, BAR, DOT = "\N{BOX DRAWINGS LIGHT HORIZONTAL}", "\N{BOX DRAWINGS LIGHT VERTICAL}", "\N{BLACK CIRCLE}"
DRAWN = f"{LINE}{BAR}{DOT}{2 * LINE}"


@pytest.mark.usefixtures("results")
def test_the_table(pgdl: Pgdl) -> None:
    ended = pgdl("board")
    assert (ended.code, ended.err) == (0, "")
    lines = [line.split() for line in ended.out.splitlines()]
    headings = "rank submission score 0 to 100 chance interval ranks group excess p beyond s/model calls"
    assert lines[0] == headings.split()
    assert [line[1] for line in lines[1:6]] == NAMES
    assert [line[0] for line in lines[1:6]] == ["1", "2", "3", "4", "-"]
    line = [
        "baseline", "29.54", DRAWN, "could", "be", "10.1-59.2", "2", "2", "4.0", "(-15.5", "to", "33.6)", "0.4688", "-",
        "1.50", "8/8",
    ]  # fmt: skip
    assert lines[2][2:] == line
    notes = ["not sandboxed: run with --unsafe-no-sandbox, never ranked.", EXPLAINED]
    assert ended.out.splitlines()[-2:] == notes
    explained = pgdl("board", "--explain").out
    assert RULE in explained
    assert SECONDS_NOTE in explained
    assert explained.splitlines()[-1] == notes[0]


@pytest.mark.usefixtures("results")
def test_the_files(pgdl: Pgdl, folder: Path, record: Record) -> None:
    """A file has the text that is printed in its format."""
    ended = pgdl("board", "--output", "deep/board")
    written = [f"leaderboard.{ending}" for ending in ("csv", "json", "tex", "md", "parquet")]
    assert (ended.code, ended.err) == (0, f"Written: {', '.join(f'deep/board/{name}' for name in written)}\n")
    assert {path.name for path in (folder / "deep" / "board").iterdir()} == set(written)
    files = {name: (folder / "deep" / "board" / name).read_text() for name in written if "parquet" not in name}
    assert [pgdl("board", "--format", form).out for form in ("csv", "json", "latex", "markdown")] == [*files.values()]
    assert RULE in files["leaderboard.md"]
    assert [row["submission"] for row in csv.DictReader(files["leaderboard.csv"].splitlines())] == NAMES
    board = json.loads(files["leaderboard.json"])
    assert [row["submission"] for row in board["rows"]] == NAMES
    assert board["rows"][1]["tasks"]["toy"]["official"] == pytest.approx(100 * OFFICIAL, rel=0, abs=1e-10)
    record(rows("newcomer", GAPS))
    pgdl("board", "--output", "deep/board")
    assert "newcomer" in (folder / "deep" / "board" / "leaderboard.md").read_text()
    assert "cannot be created" in pgdl("board", "--output", "deep/board/leaderboard.md/board").refusal()


@pytest.mark.rest
@pytest.mark.usefixtures("results")
def test_no_figure_is_cut_off_where_the_terminal_is_narrow(
    pgdl: Pgdl, folder: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board of 8 tasks, as many as the competition had, in 80 columns, as many as a pipe or a log has."""
    tasks = [f"task{number}_v1" for number in range(1, 9)]
    for task in tasks:
        write_reference(folder / "task_data", task)
    record(rows("winner", GAPS, tasks))
    monkeypatch.setenv("COLUMNS", "80")
    out = pgdl("board").out
    assert "…" not in out
    assert [task for task in tasks if task not in out] == []
    (winner,) = (line.split() for line in out.splitlines() if " winner " in line)
    assert winner == [
        "1", "winner", "100.00", BAR, DOT, "beyond", *["100.00"] * 9,
        "100.0-100.0", "100.0-100.0", "1", "1", "73.5", "(73.5", "to", "73.5)", "0.0025", "yes", "1.50", "72/72",
    ]  # fmt: skip


def test_what_the_tasks_can_tell_is_said_before_anybody_runs(pgdl: Pgdl, folder: Path, record: Record) -> None:
    gaps = [0.01 * ((7 * number) % 17) for number in range(16)]
    write_reference(folder / "task_data", "large", gaps, (2, 2, 2, 2))
    write_reference(folder / "task_data", "middle", gaps[:12], (2, 2, 3))
    write_reference(folder / "task_data", "small")
    write_reference(folder / "task_data", "secret", hidden=True)
    record([])
    small = "8 networks cannot show more than p = 0.0625: no measure can be told from chance on this task alone"
    for ended in (pgdl("board"), pgdl("task", "validate")):
        text = " ".join(ended.out.split())
        assert re.search(r"large: (note: )?16 networks can show a difference of [34]\d points", text)
        assert re.search(r"middle: (note: )?12 networks can show p = 0\.0156 at best, and a difference of \d\d ", text)
        assert re.search(f"small: (note: )?{small}", text)
        assert text.count("networks can") == 3
    first, *_, last = json.loads(pgdl("board", "--format", "json").out)["remarks"]
    assert (first, small in last) == ("no records of these tasks; run `pgdl run SUBMISSION` first", True)
    assert first in pgdl("board", "--task", "secret").out


@pytest.mark.usefixtures("results")
def test_more_columns_are_shown_and_written_but_not_of_hidden_tasks(pgdl: Pgdl, folder: Path) -> None:
    names = ["printed", "kendall", "granulated_kendall", "sign_error"]
    assert ", ".join(names) in " ".join(pgdl("board", "--help").out.split())
    plain = pgdl("board").out.splitlines()
    lines = pgdl("board", "--columns", ",".join(names), "--output", "out", "--html", "site").out.splitlines()
    assert lines[0].startswith(plain[0])
    assert lines[0].endswith("printed toy  Kendall toy  granulated Kendall toy  sign-error toy")
    assert lines[1].split()[-4:] == ["100.00", "1.000", "1.000", "0.000"]
    assert lines[3].split()[-4:] == ["-"] * 4, "late has no score"
    (winner, path_norm, *_) = csv.DictReader((folder / "out" / "leaderboard.csv").open())
    signs = sign_errors(MEASURE, GAPS, read_reference(folder / "task_data/toy/model_configs.json").grid)
    assert float(path_norm["sign_error:toy"]) == signs.overall.mean
    assert float(winner["sign_error:toy"]) == 0
    tasks = json.loads((folder / "out" / "leaderboard.json").read_text())["rows"][1]["tasks"]
    assert tasks["toy"]["sign_error"] == signs.overall.mean
    assert ">sign-error toy</th>" in (folder / "site/index.html").read_text()
    assert "sign_error:toy" in (folder / "site/leaderboard.csv").read_text().splitlines()[0]
    assert pgdl("verify", "site").code == 0
    lines = pgdl("board", "--withhold", "always", "--columns", "sign_error,kendall").out.splitlines()
    assert lines[2].split()[-2:] == ["-", "-"]


def test_of_measures_that_order_models_alike_one_is_shown(pgdl: Pgdl, folder: Path, record: Record) -> None:
    def names(table: str) -> list[str]:
        return [line.split()[1] for line in table.splitlines()[1:] if re.match(r" +\d", line)]

    write_reference(folder / "task_data")
    two = ("l2_norm", "param_norm")
    record([row for name in two for row in rows(name, MEASURE, is_baseline=True)])
    first = "left out, because they order models like another measure: param_norm like l2_norm."
    for command in ("board", "compare --recorded"):
        shown, _, told = pgdl(*command.split()).out.partition("left out, because")
        assert (names(shown), first.endswith(told.splitlines()[0])) == (["l2_norm"], True)
    record(rows("param_norm", MEASURE, is_baseline=True, run_seed=7))
    assert names(pgdl("board").out) == ["l2_norm", "param_norm"]  # alone in its settings
    assert names(pgdl("board", "--all").out) == ["l2_norm", "param_norm", "param_norm"]
    assert [line for line in pgdl("report").lines if line.startswith(two)] == ["l2_norm", "param_norm (seed 7)"]
    asked = [line for line in pgdl("report", "param_norm").lines if line.startswith(two)]
    assert asked == ["param_norm", "param_norm (seed 7)"]


@pytest.mark.usefixtures("three_submissions")
def test_a_site_is_written_verified_and_found_to_be_changed(pgdl: Pgdl, folder: Path) -> None:
    ended = pgdl("board", "--html", "site")
    assert ended.code == 0
    assert "Written: site/index.html (digest of all records: " in ended.err
    digest = ended.err.rstrip().rstrip(")").rpartition(" ")[2]
    verified = pgdl("verify", "site")
    assert (verified.code, verified.err, verified.lines[-1]) == (0, "", f"Digest of all records: {digest}")
    verified = pgdl("verify", "site", "--format", "json")
    found = json.loads(verified.out)
    assert (verified.code, verified.err, found["verified"], found["differences"]) == (0, "", True, [])
    assert found["n_records"] == 24
    assert "no layer" in (folder / "site/submissions/half.html").read_text()
    (folder / "site/reading.html").write_text("x")
    changed = pgdl("verify", "site")
    assert (changed.code, len(changed.lines), changed.out[:22]) == (1, 1, "reading.html: line 1: ")
    changed = pgdl("verify", "site", "--format", "json")
    found = json.loads(changed.out)
    assert (changed.code, found["verified"], len(found["differences"])) == (1, False, 1)


@pytest.mark.usefixtures("three_submissions")
def test_bad_directories_are_one_line(pgdl: Pgdl, folder: Path) -> None:
    """If other files lay in a site, `pgdl verify` would not accept it, and the same command could not replace it."""
    (folder / "papers").mkdir()
    (folder / "circle").symlink_to("circle")  # leads nowhere
    (folder / "papers/thesis").touch()
    for arguments in (
        "board --html papers", "board --html circle --output b", "board --html s --output circle", "verify papers",
        "verify circle",
    ):  # fmt: skip
        pgdl(*arguments.split()).refusal()
    assert (folder / "papers/thesis").exists()
    for output in ("site", "./site/", "site/files"):
        refusal = pgdl("board", "--html", "site", "--output", output).refusal()
        assert "--output: expected a directory outside of --html, which has only a site" in refusal
    assert not (folder / "site").exists()


@pytest.mark.usefixtures("three_submissions")
def test_a_report_says_why_and_what_next_of_some_or_of_everybody(pgdl: Pgdl, folder: Path) -> None:
    ended = pgdl("report", "weak", "half", "--html", "reports")
    text = " ".join(ended.out.split())
    assert ended.code == 0
    assert "Score 29.54 (90 % interval" in text
    assert "The measure adds least to what axis_a and axis_b already tell: 29.54 of 100." in text
    assert ("1 EXCEPTION: ValueError: no layer" in text, "winner" in text) == (True, False)
    assert sorted(path.name for path in (folder / "reports").iterdir()) == ["half.html", "weak.html"]
    assert [line for line in pgdl("report").lines if line in ("winner", "weak", "half")] == ["winner", "weak", "half"]
    remarks = json.loads(pgdl("score", "weak", "--format", "json").out)["remarks"]
    missing = "toy: its models are missing, so it cannot be checked whether records are of these models"
    assert f"{missing}, and standard errors of scores are not split into gap_error and model_error" in remarks
    assert pgdl("report", "weak", "--html", "alone").lines[-len(remarks) :] == remarks
    assert all(f"<li>{line}</li>" in (folder / "alone/weak.html").read_text() for line in remarks)
    assert json.loads(pgdl("report", "weak", "--format", "json").out)["remarks"] == remarks
    weak, half = json.loads(pgdl("report", "weak", "half", "--format", "json").out)["submissions"]
    assert (weak["submission"], weak["rank"], round(weak["score"], 6)) == ("weak", 2, 29.541816)
    assert weak["tasks"]["toy"]["deciding"] == ["axis_a", "axis_b"]
    assert 0 < weak["tasks"]["toy"]["p_value"] <= weak["tasks"]["toy"]["adjusted_p_value"] <= 1
    assert half["summary"].startswith("No score: ")
    assert half["tasks"]["toy"]["why"] == "No score: 1 EXCEPTION: ValueError: no layer."
    assert half["tasks"]["toy"]["deciding"] is None


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
def test_notes_on_a_hidden_task_tell_nothing_of_its_models(pgdl: Pgdl, folder: Path) -> None:
    write_reference(folder / "task_data", gaps=[0.265] * 8)
    assert "all 8 generalization gaps are 0.265" in pgdl("board").out
    write_reference(folder / "task_data", gaps=[0.265] * 8, hidden=True)
    for arguments in (("board", "--html", "site"), ("score",)):
        assert "0.265" not in pgdl(*arguments).out
    assert not any(b"0.265" in path.read_bytes() for path in (folder / "site").rglob("*.*") if path.suffix != ".js")


def test_the_current_directory_can_be_a_site_also_without_records(
    pgdl: Pgdl, folder: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reference(folder / "task_data")
    record([])
    pgdl("report").refusal()
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    for _ in range(2):
        shared = ("--tasks", folder / "task_data", "--results", folder / "results.db")
        assert pgdl("board", "--html", ".", *shared).code == 0
    assert pgdl("verify", ".").code == 0
