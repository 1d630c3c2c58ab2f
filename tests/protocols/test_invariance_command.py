"""Tests of `pgdl invariance`: curves of small networks whose responses are known."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from in_process import Pgdl
from small_tasks import image_task
from throwaway import make_task

from harness.errors import UserError
from harness.processes import ask_all
from harness.protocols import subject as studied
from harness.protocols.invariance import evaluate as evaluation
from harness.protocols.invariance.evaluate import PerturbedAccuracies
from harness.protocols.invariance.perturbations import ChosenMagnitudes, choose
from harness.protocols.invariance.study import Responses, Study
from harness.protocols.invariance.table import Compared, batch_numbers, measure_sensitivity
from harness.protocols.subject import read_subject

OPTIONS = ("--range", "rotation=0..180", "--perturbations", "rotation,intra_l0")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> Path:
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task of images that all tests of this file share, so that TensorFlow runs only once."""
    return image_task(tmp_path_factory.mktemp("tasks"), n_train=160).parent


@pytest.fixture
def without_processes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Refuse every model that must be computed; return a list that gets the number of refused models."""
    asked: list[int] = []

    def refuse(module: str, runtime: object, questions: list[object]) -> Iterator[tuple[int, UserError]]:
        asked.append(len(questions))
        for position in range(len(questions)):
            yield position, UserError("cannot be run", found="out of memory")

    monkeypatch.setattr(studied, "ask_all", refuse)
    return asked


def test_curves_scores_table_and_plots(pgdl: Pgdl, pictures: Path, folder: Path, without_processes: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(studied, "ask_all", ask_all)
        patch.setattr("os.sched_getaffinity", lambda _: {0})  # one process: it takes longer to start than to work
        ended = pgdl("invariance", "pictures", "--tasks", pictures, *OPTIONS, "--sensitivity", "--output", "out")
    assert (ended.code, ended.err.splitlines()[:-1]) == (0, [])
    names = {"curves.csv", "scores.csv", "table.csv", "sensitivity.csv"}
    plots = {f"{plot}{suffix}" for plot in ("curves", "pairs", "sensitivity") for suffix in (".svg", ".png")}
    assert {file.name for file in (folder / "out").iterdir()} == names | plots

    curves, listed, table = (
        list(csv.DictReader((folder / "out" / f"{name}.csv").open())) for name in ("curves", "scores", "table")
    )
    assert len(curves) == 8 * (25 + 11)
    assert {row["accuracy"] for row in curves if row["model"] == "model_0"} == {"0.5"}
    turned = [row for row in curves if row["model"] == "model_1" and row["perturbation"] == "rotation"]
    assert (float(turned[0]["accuracy"]), float(turned[-1]["accuracy"])) == (1, 0), "half a turn swaps the halves"
    assert (float(turned[-1]["magnitude"]), float(turned[-1]["t"])) == (180, 1)

    scores = {(row["model"], row["perturbation"]): row for row in listed}
    assert float(scores["model_0", "rotation"]["gi"]) == pytest.approx(0.5)
    assert float(scores["model_0", "rotation"]["mean_error"]) == pytest.approx(0.5)
    assert float(scores["model_0", "intra_l0"]["minus_pal"]) == pytest.approx(-84)
    assert float(scores["model_1", "intra_l0"]["gi"]) == 0, "mixtures of one class stay on their side"
    assert 0 < float(scores["model_1", "rotation"]["gi"]) < 0.5, "right about small rotations, which weigh most"

    statistics = [(row["perturbation"], row["statistic"]) for row in table]
    assert ("rotation", "subset_error") in statistics
    assert ("intra_l0", "minus_pal") in statistics
    assert ("rotation", "minus_pal") not in statistics, "for curves that fall throughout"
    assert scores["model_0", "rotation"]["minus_pal"] == ""
    assert all(0 <= float(row["low"]) <= float(row["score"]) <= float(row["high"]) for row in table)
    assert [line.split()[0] for line in ended.lines[1:4]] == ["rotation"] * 3

    printed = pgdl("invariance", "pictures", "--tasks", pictures, *OPTIONS, "--sensitivity", "--format", "json")
    content = json.loads(printed.out)
    assert [float(row["kendall"]) for row in table] == [row["kendall"] for row in content["table"]]
    assert len(content["scores"]) == len(scores)
    assert content["failures"] == {}
    assert without_processes == [], "all models were finished"

    one = pgdl(
        "invariance", "pictures", "--tasks", pictures, *OPTIONS, "--seed", 7, "--models", "model_2,model_3,model_5"
    )
    assert without_processes == [3], "other settings are other parts"
    assert one.code == 1
    assert "model_2: cannot be run: found out of memory" in one.err


@pytest.mark.usefixtures("without_processes")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tiny", "--tasks", "."], "rotation: expected images (height, width, channels), found (4,)"),
        (["pictures", "--tasks", "hidden"], "task pictures: its errors and gaps are withheld"),
        (["nowhere"], "no task 'nowhere'"),
        (["pictures", "--models", "model_9"], "no model 'model_9'"),
        (["pictures", "--perturbations", "rotatoin"], "no perturbation 'rotatoin'; did you mean 'rotation'?"),
        (["pictures", "--range", "rotation=big"], "expected PERTURBATION=LOW..HIGH"),
        (["pictures", "--range", "rotation=90..-90"], "expected LOW below HIGH"),
        (["pictures", "--range", "rotation=-400..0"], "expected LOW below HIGH, both from -360 to 360"),
        (["pictures", "--perturbations", "rotation", "--range", "translate_x=-1..1"],
         "--range: translate_x is not among the perturbations"),
        (["pictures", "--given", "colour"],
         "--given: expected some of activation, depth, width, found colour"),
        (["pictures", "--output", "file/out"], "cannot be created"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_the_work(
    arguments: list[str], message: str, pgdl: Pgdl, pictures: Path, folder: Path
) -> None:
    make_task(folder)
    (image_task(folder / "hidden") / "metadata").write_text("hidden: true\n")
    (folder / "file").touch()
    more = [] if "--tasks" in arguments else ["--tasks", pictures]
    assert message in pgdl("invariance", *arguments, *more).refusal()


def test_a_task_without_reference_data_gets_scores_only(
    pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = image_task(folder)
    (task / "model_configs.json").unlink()
    right = np.ones((20, 25), np.bool_)
    responses = {f"model_{n}": Responses({"rotation.0": right, "rotation.subset": np.array(0.0)}) for n in range(8)}
    monkeypatch.setattr(
        "harness.protocols.invariance.evaluate.run_study",
        lambda _, perturbations, *__: Study(perturbations, responses, {}),
    )
    ended = pgdl("invariance", "pictures", "--tasks", folder, "--perturbations", "rotation", "--output", "out")
    assert ended.code == 0
    assert ended.lines[1].split() == ["model_0", "0.0000"]
    assert "no gaps to compare the scores with" in ended.out
    assert not (folder / "out" / "table.csv").exists()
    study = Study([ChosenMagnitudes("rotation", 0, 1)], responses, {"model_8": "cannot be run"})
    assert repr(PerturbedAccuracies(study, {}, None, (), ())) == "rotation: curves of 8 models\nmodel_8: cannot be run"


def test_if_too_few_models_can_be_run_each_failure_is_named(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = choose(["rotation"], [])
    study = Study(chosen, {"model_0": Responses({})}, {"model_1": "out of memory"})
    monkeypatch.setattr(evaluation, "run_study", lambda *_: study)
    with pytest.raises(UserError) as error:
        evaluation.evaluate(read_subject(pictures, "pictures", 2), evaluation.InvarianceSettings(chosen))
    assert error.value.lines[1:] == ("model_1: out of memory",)


def test_magnitudes_and_numbers_of_batches() -> None:
    with pytest.raises(UserError, match="n_examples: expected 2 or more, found 1"):
        evaluation.InvarianceSettings(choose((), ()), n_examples=1)
    by_name = {chosen.name: chosen for chosen in choose((), ["rotation=-90..90"])}
    assert list(by_name) == ["rotation", "translate_x", "translate_y", "color_jitter", "intra_l0", "inter_l0"]
    assert (by_name["rotation"].magnitudes[[0, 12, -1]] == [-90, 0, 90]).all()
    assert by_name["intra_l0"].magnitudes[-1] == 0.5
    assert by_name["inter_l0"].magnitudes[-1] < 0.5
    numbers = {100: [1], 600: [1, 2, 4], 23040: [1, 2, 4, 8, 16, 32, 64, 128, 180]}
    assert {n_examples: batch_numbers(n_examples) for n_examples in numbers} == numbers


def test_scores_spread_less_the_more_batches_there_are(pictures: Path) -> None:
    """Networks' accuracies fall at known rates; which examples are classified rightly is random."""
    reference = read_subject(pictures, "pictures").task.reference
    random, chosen, seconds = np.random.default_rng(0), ChosenMagnitudes("rotation", 0, 1), np.array([1.0, 2.0])
    accuracies = {model: 1 - chosen.magnitudes * (0.5 + gap) for model, gap in reference.gaps.items()}
    responses = {
        model: Responses({"rotation.0": random.random((8192, 25)) < curve, "rotation.seconds": seconds})
        for model, curve in accuracies.items()
    }
    compared = Compared.of(reference, list(reference.models), (), 0.8)
    few, many = measure_sensitivity(Study([chosen], responses, {}), compared, [1, 60], seed=0)
    assert few.deviation > 3 * many.deviation
    assert many.mean == pytest.approx(1, abs=0.1)
    assert (few.seconds, many.seconds) == (1, 2)
