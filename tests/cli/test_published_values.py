"""Tests of `pgdl compare --published`: published scores beside computed scores, with their sources."""

import csv
import statistics
import tomllib
from pathlib import Path

import pytest
from in_process import Pgdl

import baselines
import harness
from harness.board.published import published_names, read_published, with_published
from tests.board.board_examples import compare, references
from tests.throwaway import make_task

MEASURES = "distance_from_init,num_params,mixup_error"
SHOWN = "scores that others reported on tasks of these names, 0 to 100, from the first source that has them:"


def papers() -> list[dict]:
    file = Path(harness.__file__).parent / "board" / "papers" / "pgdl2020.toml"
    return tomllib.loads(file.read_text())["tables"]


@pytest.mark.usefixtures("known_shapes", "sandbox")
def test_published_scores_are_in_a_column_with_their_sources(pgdl: Pgdl, folder: Path) -> None:
    make_task(folder / "task_data", name="task1_v4", layout="full", n_models=2)
    make_task(folder / "task_data", name="mine", layout="full", n_models=2)
    ended = pgdl("compare", "--measures", MEASURES, "--published", "pgdl2020", "--output", "out")
    assert ended.code == 0, ended.err
    assert "published task1_v4" in ended.out
    assert f"{SHOWN} Schiff" in ended.out
    rows = {row["measure"]: row for row in csv.DictReader(Path("out.csv").read_text().splitlines())}
    found = {measure: (row["published:task1_v4"], row["published:mine"]) for measure, row in rows.items()}
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
