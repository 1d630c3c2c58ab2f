"""Tests of `pgdl overfit TASK` with networks that classify only their training set correctly."""

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import Ended, Pgdl, in_process
from overfit_tasks import fitted_network, torus_digits, write_task
from throwaway import make_task

from harness.errors import UserError
from harness.protocols import subject as studied
from harness.protocols.files import write_part
from harness.protocols.overfit import run as overfit
from harness.protocols.overfit.rows import OverfitGroup, OverfitRow
from harness.protocols.overfit.run import detect_overfitting
from harness.protocols.overfit.settings import Edges, Generator, OverfitSettings
from harness.protocols.subject import read_subject

WRAP = OverfitSettings((1, 2), "train", edges=Edges.WRAP)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Iterator[Path]:
    """A directory with the task `torus`, and an empty cache.

    model_0 and model_1 differ only in their seeds; model_2 is model_0 with a softmax; outputs of model_3 overflow.
    """
    directory = tmp_path_factory.mktemp("overfit")
    train = torus_digits(200)
    first, second = (fitted_network(train, seed=seed) for seed in range(2))
    broken = fitted_network(train, width=32).times(1e20)
    write_task(directory, [first, second, first.with_softmax(), broken], train, torus_digits(400, first=700, seed=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGDL_CACHE", str(directory / "cache"))
        patch.setattr(overfit, "PREFERRED", ("jax", "torch", "tensorflow"))
        patch.setattr("os.sched_getaffinity", lambda _: {0})  # one process: it takes longer to start than to work
        yield directory


@pytest.fixture
def pgdl(home, monkeypatch, capsys) -> Pgdl:
    def run(*arguments: object, tasks: Path = home) -> Ended:
        return in_process(monkeypatch, capsys)("overfit", *arguments, "--tasks", tasks)

    return run


def watch(patch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each computed model."""
    names: list[str] = []
    write_parts = overfit.write_parts

    def write(program: str, runtime: Any, subject: Any, files: Any, *others: Any) -> Any:
        names.extend(files)
        return write_parts(program, runtime, subject, files, *others)

    patch.setattr(overfit, "write_parts", write)
    return names


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    return watch(monkeypatch)


def test_json_has_every_row_and_number(pgdl, train_rows) -> None:
    models = "model_0,model_1,model_2"
    outcome = pgdl("torus", "--split", "train", "--edges", "wrap", "--epsilon", "1,2", "--models", models,
                   "--format", "json")  # fmt: skip
    content = json.loads(outcome.out)
    assert (outcome.code, content["task"], content["failures"]) == (0, "torus", {})
    assert [row["p_value"] for row in content["rows"]] == [row.p_value for row in train_rows]
    assert content["rows"][0]["models"] == models.split(",")


@pytest.fixture(scope="module")
def train_rows(home) -> list[OverfitRow]:
    """The rows of models on their training set; a first attempt was interrupted after one model."""
    subject = read_subject(home, "torus", ("model_0", "model_1", "model_2"))

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        detect_overfitting(subject, WRAP, interrupt)
    with pytest.MonkeyPatch.context() as patch:
        asked = watch(patch)
        result = detect_overfitting(subject, WRAP)
    assert asked == ["model_1", "model_2"], "finished models are not computed again"
    return list(result.rows)


def test_models_are_found_to_depend_on_their_training_set_with_a_softmax_or_without(train_rows) -> None:
    assert {row.error_rate for row in train_rows} == {0.0}
    assert all(row.statistic > 0.2 for row in train_rows)
    assert all(row.p_value < 1e-3 for row in train_rows)
    assert [(row.group.name, row.epsilon) for row in train_rows[:4]] == [
        ("all", 1), ("all", 2), ("architecture 1", 1), ("architecture 1", 2),
    ]  # fmt: skip
    assert train_rows[2].group.models == ("model_0", "model_1")
    own = {
        name: [vars(row) | {"group": None} for row in train_rows if row.group.name == name]
        for name in ("model_0", "model_2")
    }
    assert own["model_0"] == own["model_2"] != []


def test_the_independent_test_set_is_not_rejected_and_a_broken_model_does_not_lose_the_others(pgdl, tmp_path) -> None:
    chosen = "model_0,model_1,model_3"
    outcome = pgdl("torus", "--edges", "wrap", "--models", chosen, "--output", tmp_path / "out")
    assert outcome.code == 1
    prefix, _, found = outcome.err.splitlines()[0].rpartition(" are ")
    assert prefix == "pgdl: model_3: cannot be run: found its outputs"
    assert found in ("NaN", "infinite"), "which of them depends on the order of sums, and so on the processor"
    assert "all 2 models" in outcome.out
    assert "A small p-value says that models and images are not independent" in outcome.out
    assert "Note:" not in outcome.out, "digits are anywhere on the torus"
    rows = list(csv.DictReader((tmp_path / "out" / "overfit.csv").open()))
    assert [row["name"] for row in rows] == ["all"] * 2 + ["model_0"] * 2 + ["model_1"] * 2
    assert all(float(row["p_value"]) > 0.5 for row in rows)
    assert all(
        float(row["adversarial_low"]) < float(row["error_rate"]) < float(row["adversarial_high"]) for row in rows
    )
    assert all(float(row["adversarial_error_rate"]) > float(row["error_rate"]) > 0.5 for row in rows)
    assert "</svg>" in (tmp_path / "out" / "overfit.svg").read_text()
    assert (tmp_path / "out" / "overfit.png").stat().st_size > 5000


def test_other_generators_use_the_same_margins(train_rows, home, asked) -> None:
    subject = read_subject(home, "torus", ("model_0", "model_1"))
    nearest = detect_overfitting(subject, OverfitSettings((1, 2), "train", Generator.NEAREST, Edges.WRAP))
    assert asked == []
    for epsilon in (1, 2):
        (strongest,) = (row for row in train_rows if (row.group.name, row.epsilon) == ("model_0", epsilon))
        assert nearest.row("model_0", epsilon).adversarial_error_rate == strongest.adversarial_error_rate
    assert nearest.row("all", 1).group.kind is OverfitGroup.ALL
    with pytest.raises(KeyError, match="no row 'all' with epsilon 3"):
        nearest.row("all", 3)


def test_edges_of_images_are_noticed_where_they_are_not_a_torus(home, monkeypatch) -> None:
    """The note on images without black edges appears even if no network can run."""
    monkeypatch.setattr(studied, "ask_all", lambda *_: (answer for answer in [(0, UserError("cannot be run"))]))
    subject = read_subject(home, "torus", ("model_0",))
    result = detect_overfitting(subject, OverfitSettings((1,)))
    assert result.rows == ()
    assert "not black at their edges" in result.notes[-1]
    assert repr(result).splitlines() == ["model_0: cannot be run", *result.notes]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["torus", "--epsilon", "1..3"], "epsilon: expected at most 2: "),
        (["torus", "--epsilon", "a"], "such as 3 or 1,2,4 or 1..5, found 'a'"),
        (["torus", "--models", "model_9"], "no model 'model_9'"),
        (["tours"], "no task 'tours'"),
        (["torus", "--output", f"{__file__}/out"], "cannot be created"),
    ],
)
def test_bad_input_is_refused_before_the_work(arguments: list[str], message: str, pgdl, asked) -> None:
    assert message in pgdl(*arguments).refusal()
    assert asked == []


def test_tasks_without_images_or_test_shards_or_hidden_are_refused(
    pgdl, home, tmp_path, shared_cache, monkeypatch
) -> None:
    shutil.copytree(home / "torus", tmp_path / "torus", ignore=shutil.ignore_patterns("test"))
    line = pgdl("torus", tasks=tmp_path).refusal()
    assert "no test data: expected shards, found no such directory; use --split train" in line
    (tmp_path / "torus" / "metadata").write_text("hidden: true\n")
    assert "task torus: its errors and gaps are withheld" in pgdl("torus", tasks=tmp_path).refusal()
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))
    make_task(tmp_path)
    line = pgdl("tiny", tasks=tmp_path).refusal()
    assert line == "pgdl: inputs: expected images of shape (height, width, channels), found shape (4,)\n"


def test_a_cache_that_takes_no_results_is_one_line(tmp_path) -> None:
    with pytest.raises(UserError, match=r"^\S+: cannot be written: .*; free some space, or name another cache by"):
        write_part(tmp_path / "gone" / "part.npz", near=np.zeros(1))
