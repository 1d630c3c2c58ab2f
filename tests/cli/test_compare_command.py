"""Tests of `pgdl compare`: several measures on every model of every task, beside published scores."""

import csv
import json
import shutil
import statistics
import tomllib
from pathlib import Path

import pytest
from in_process import Pgdl, Record
from pyarrow import parquet

import baselines
import harness
from harness.api.alike import ordered_alike
from harness.api.chosen_measures import choose_measures
from harness.board.published import published_names, read_published, with_published
from harness.records import Records
from tests.board.board_examples import GAPS, MEASURE, OFFICIAL, compare, references, rows, write_reference
from tests.throwaway import make_task

NAMES = ["num_params", "distance_from_init", "vc_dim:image_side=8"]
MEASURES = ",".join(NAMES)
SUFFIXES = ("csv", "json", "md", "parquet", "png", "svg", "tex")


@pytest.fixture
def competition(folder: Path, known_shapes: None) -> Path:
    """A task, and a second task whose models lack their initial weights."""
    make_task(folder / "task_data", layout="full")
    make_task(folder / "task_data", name="uninitialised", layout="full", initial_weights=False, seed=1)
    return folder / "task_data"


@pytest.mark.usefixtures("competition", "sandbox")
def test_a_table_over_tasks_is_printed_and_written(pgdl: Pgdl, folder: Path) -> None:
    ended = pgdl("compare", "--measures", MEASURES, "--output", "deep/norms")
    assert ended.code == 0  # no call failed, where none could work
    lines = [line.split() for line in ended.out.splitlines()]
    heading = next(number for number, line in enumerate(lines) if line[:2] == ["rank", "measure"])
    assert {"score", "interval", "tiny", "uninitialised", "Kendall"} <= set(lines[heading])
    assert "failed" not in lines[heading]
    found = {line[1]: line for line in lines[heading + 1 : heading + 4]}
    assert set(found) == set(NAMES)
    assert lines[heading + 3][1] == "distance_from_init"  # a score on each task goes before
    assert "-" in found["distance_from_init"]
    why = "distance_from_init: uninitialised: left out: needs initial weights, and no model has weights_init.hdf5"
    assert [line for line in ended.out.splitlines() if "initial weights" in line] == [why]
    assert ended.err.startswith("Written: deep/norms.csv, ")
    assert ended.err.count("\n") == 1
    assert {file.name for file in (folder / "deep").iterdir()} == {f"norms.{suffix}" for suffix in SUFFIXES}
    written = {row["measure"]: row for row in csv.DictReader((folder / "deep" / "norms.csv").read_text().splitlines())}
    assert written["num_params"]["family"] == "size"
    assert parquet.read_table(folder / "deep" / "norms.parquet").num_rows == 6
    assert ">noisy oracle " in (folder / "deep" / "norms.svg").read_text()
    _compare_with_run_and_score(pgdl, written)


def _compare_with_run_and_score(pgdl: Pgdl, written: dict[str, dict[str, str]]) -> None:
    """Assert that records and scores equal those of `pgdl run` with the same settings."""
    again = pgdl("compare", "--measures", MEASURES)
    assert again.out.startswith("40 of 40 calls are recorded already")
    _compare_with_the_best(pgdl)
    ended = pgdl("run", *NAMES)
    assert ended.out.startswith("40 of 48 calls are recorded already")
    assert (ended.out + ended.err).count("uninitialised: no model has weights_init.hdf5") == 1
    assert "needs the initial weights" not in ended.out + ended.err  # not once for each model
    with Records("results.db") as records:
        rows = list(records.newest_of())
    assert (len(rows), {row.submission for row in rows}) == (48, set(NAMES))
    assert "failed" in pgdl("score", "distance_from_init").out
    score = pgdl("score", "num_params", "--format", "json").out
    assert f'"official": {float(written["num_params"]["score:tiny"]) / 100!r}'[:20] in score


def _compare_with_the_best(pgdl: Pgdl) -> None:
    """Assert that `--top 1` prints the first line of the whole table, and that the exit code covers all calls."""
    every = pgdl("compare", "--measures", MEASURES, "--format", "csv").out.splitlines()
    best = pgdl("compare", "--measures", MEASURES, "--format", "csv", "--top", "1")
    assert (best.code, best.out.splitlines()) == (0, every[:2])
    notes = pgdl("compare", "--measures", MEASURES, "--format", "markdown", "--top", "2").out
    assert "The best 2 of 3 measures; ranks, p-values and intervals refer to all measures." in notes
    assert "| `distance_from_init` |" not in notes


def test_of_several_settings_the_last_in_a_sandbox_counts(pgdl: Pgdl, folder: Path, record: Record) -> None:
    write_reference(folder / "task_data")
    record(rows("num_params", GAPS, is_baseline=True))
    record(rows("num_params", MEASURE, run_seed=1, is_baseline=True))
    record(rows("num_params", GAPS, sandbox="none", is_baseline=True))
    ended = pgdl("compare", "--recorded", "--format", "json")
    (row,) = json.loads(ended.out)
    assert row["sandboxed"]
    assert row["score"] == pytest.approx(100 * OFFICIAL)
    shown = pgdl("compare", "--recorded")
    assert "recorded in other settings, too, which are not compared: num_params" in shown.lines
    assert "NOT SANDBOXED" not in shown.out


@pytest.mark.rest
@pytest.mark.usefixtures("sandbox")
def test_what_is_recorded_is_compared_without_models_and_calls(pgdl: Pgdl, folder: Path, competition: Path) -> None:
    settings = "--task", "tiny", "--results", "made.db", "--format", "json"
    called = pgdl("compare", "--measures", MEASURES, *settings)
    shutil.rmtree(competition / "input_data")
    recorded = "compare", "--recorded", *settings
    for arguments in ([], ["--measures", "size,norm"], ["--measures", MEASURES]):
        again = pgdl(*recorded, *arguments)
        assert (again.code, again.err) == (0, "")
        assert json.loads(again.out) == json.loads(called.out)
    ended = pgdl(*recorded, "--measures", "num_params", "--withhold", "always", "--format", "table")
    assert "rounded" in ended.out
    for arguments, said in (
        (["--measures", "depth"], "--measures: expected recorded measures of these tasks, found no record of depth"),
        (["--measures", "margin"], "found no record of any of them"),
        (["--workers", "1"], "--recorded makes no calls: found --workers; leave it out"),
        (["--force"], "--recorded makes no calls: found --force; leave it out"),
    ):
        assert said in pgdl(*recorded, *arguments).refusal()
    assert not (folder / "results.db").exists()


@pytest.mark.usefixtures("sandbox", "known_shapes")
def test_a_measure_that_can_work_nowhere_has_a_row_or_is_refused_by_name(
    pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(folder / "task_data", initial_weights=False, n_models=1)
    ended = pgdl("compare", "--measures", "num_params,distance_from_init")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[-1] == (
        "pgdl: --measures: distance_from_init cannot work on tiny: needs initial weights, and no model has "
        "weights_init.hdf5; leave it out, or choose other tasks with --task"
    )
    assert not (folder / "results.db").exists()
    monkeypatch.setattr(baselines, "MEASURES", {name: baselines.MEASURES[name] for name in ("l2_norm", "l2_dist")})
    compared = pgdl("compare", "--measures", "norm", "--format", "json")
    assert compared.code == 0
    rows = {row["measure"]: row for row in json.loads(compared.out)}
    assert {name: row["rank"] for name, row in rows.items()} == {"l2_norm": None, "l2_dist": None}  # one model only
    (on_task,) = rows["l2_dist"]["tasks"]
    assert (on_task["models"], on_task["failed"], on_task["score"]) == (0, 0, None)
    assert on_task["reason"] == "left out: needs initial weights, and no model has weights_init.hdf5"


@pytest.mark.usefixtures("sandbox", "known_shapes")
def test_a_hidden_task_is_rounded_and_tells_no_reason_beside_published_scores(pgdl: Pgdl, folder: Path) -> None:
    make_task(folder / "task_data", name="task1_v4", hidden=True, initial_weights=False, n_models=2)
    ended = pgdl("compare", "--measures", "distance_from_init", "--published", "pgdl2020")
    assert (ended.code, "published task1_v4" in ended.out, "5.13" in ended.out) == (1, True, True)
    assert "MeasureUnavailable" not in ended.out
    assert "distance_from_init: task1_v4: the reason is withheld, since the task is hidden" in ended.out


def test_what_is_chosen(folder: Path) -> None:
    (folder / "num_params").mkdir()  # no measure, though a file of that name is there

    def names(*chosen: str) -> list[str]:
        return [one.submission.name for one in choose_measures(chosen)]

    size = [name for name, measure in baselines.MEASURES.items() if measure.family == "size"]
    cheap = [name for name, measure in baselines.MEASURES.items() if measure.cost in ("weights", "forward")]
    assert (names("all"), names("size"), names("cheap")) == ([*baselines.MEASURES], size, cheap)
    assert set(names("weights,forward")) == set(cheap)
    chosen = choose_measures(["inverse_margin:n_samples=9,seed=1, size", "vc_dim,random"])
    inverse = "inverse_margin:n_samples=9,seed=1"
    assert [one.submission.name for one in chosen] == [inverse, *size, "random"]  # each once
    assert [one.family for one in chosen] == ["margin", *["size"] * len(size), "control"]
    assert [one.submission.name for one in chosen if one.is_named] == [inverse, "vc_dim", "random"]
    assert all(one.submission.is_baseline for one in chosen)


def test_a_measure_and_its_logarithm_are_compared_once() -> None:
    cheap = [name for name, measure in baselines.MEASURES.items() if measure.is_cheap]
    expected = {"log_path_norm": "path_norm", "param_norm": "l2_norm", "fro_dist": "l2_dist"}
    assert ordered_alike(cheap) == expected
    parameters = [f"{name}:seed=3" for name in ("gradient_norm", "log_gradient_norm", "log_fisher_trace")]
    assert ordered_alike([*parameters, "fisher_trace"]) == {parameters[1]: parameters[0]}


@pytest.mark.usefixtures("known_shapes")
def test_nothing_is_run_that_cannot_be_scored(pgdl: Pgdl, folder: Path) -> None:
    make_task(folder / "task_data", reference=False)
    ended = pgdl("compare", "--measures", "num_params", "--unsafe-no-sandbox")
    assert (ended.code, ended.out, "no reference data of tiny" in ended.err) == (2, "", True)
    assert not (folder / "results.db").exists()


SHOWN = "scores that others reported on tasks of these names, 0 to 100, from the first source that has them:"


def papers() -> list[dict]:
    file = Path(harness.__file__).parent / "board" / "papers" / "pgdl2020.toml"
    return tomllib.loads(file.read_text())["tables"]


def test_published_scores_are_in_a_column_with_their_sources(pgdl: Pgdl, folder: Path, record: Record) -> None:
    tasks = ["task1_v4", "mine"]
    for task in tasks:
        write_reference(folder / "task_data", task)
    for measure in ("distance_from_init", "num_params", "mixup_error"):
        record(rows(measure, task=tasks, is_baseline=True))
    ended = pgdl("compare", "--recorded", "--published", "pgdl2020", "--output", "out")
    assert ended.code == 0, ended.err
    assert "published task1_v4" in ended.out
    assert f"{SHOWN} Schiff" in ended.out
    written = {row["measure"]: row for row in csv.DictReader(Path("out.csv").read_text().splitlines())}
    found = {measure: (row["published:task1_v4"], row["published:mine"]) for measure, row in written.items()}
    assert found == {"distance_from_init": ("5.13", ""), "num_params": ("", ""), "mixup_error": ("0.03", "")}


def test_only_sources_of_shown_scores_are_named(tmp_path: Path) -> None:
    measures = dict.fromkeys(("num_params", "distance_from_init"), "norm")
    none = "published: no published scores of these measures on these tasks are known."
    for tasks, beginning in ((["task5"], f"published: {SHOWN} Lassance et al."), (["task6", "task8"], none)):
        known = references(tmp_path / tasks[0], *tasks)
        (note,) = with_published(compare([], known, measures), read_published("pgdl2020"), tasks).remarks
        assert note.startswith(beginning)


def test_tasks_and_corpora_without_published_scores_are_one_line(pgdl: Pgdl, folder: Path, known_shapes: None) -> None:
    make_task(folder / "task_data", n_models=4)
    arguments = ["compare", "--measures", "num_params", "--unsafe-no-sandbox", "--published"]
    misspelt = pgdl(*arguments, "pgdl2002")
    assert misspelt.err == "pgdl: --published: no 'pgdl2002': expected pgdl2020; did you mean 'pgdl2020'?\n"
    ended = pgdl(*arguments, "pgdl2020")
    assert ended.code == 2
    assert "--published pgdl2020: no scores on these tasks: expected some of task1_v4, " in ended.err
    assert ended.err.endswith("found tiny; pgdl task fetch pgdl2020 fetches them\n")
    assert not Path("results.db").exists()


def test_published_tables_are_what_their_sources_print() -> None:
    """Rows are complete, measures exist in the library, and printed means agree with the printed values."""
    for table in papers():
        for row in table["rows"]:
            assert len(row["values"]) == len(table["tasks"])
            assert row.get("measure", "random") in baselines.MEASURES
            if "mean" in row:
                assert statistics.fmean(row["values"]) == pytest.approx(row["mean"], abs=0.0075)
    # 22.92, the score of the first place: the columns are the tasks that they are said to be.
    (winners, *_) = [row for row in read_published("pgdl2020") if row.measure == "dbi_mixup"]
    last = [winners.values[task] for task in ("task6", "task7", "task8", "task9")]
    assert statistics.fmean(last) == pytest.approx(22.92)


def test_the_page_names_the_sources_and_the_command() -> None:
    page = " ".join((Path(harness.__file__).parents[1] / "docs" / "pgdl2020.md").read_text().split())
    assert [table["source"] for table in papers() if table["source"] not in page] == []
    assert f"`pgdl compare --published {published_names()[0]}`" in page
