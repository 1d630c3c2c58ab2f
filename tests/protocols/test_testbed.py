"""Tests of `pgdl testbed` and its functions, end to end on a tiny task of dense networks."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import xarray as xr
from in_process import Pgdl
from kept_notes import Notes
from testbed_tasks import N_CLASSES, N_SEEN, SIDE, WIDTHS, make_backbones, make_data, make_images

from harness.api import testbeds
from harness.errors import UserError
from harness.extras import install
from harness.protocols import subject as studied
from harness.protocols.files import write_part
from harness.protocols.subject import read_subject
from harness.protocols.testbed import probing
from harness.protocols.testbed.images import ImagePart, Images
from harness.protocols.testbed.material import Classes, divide_images, equal_steps
from harness.protocols.testbed.results import STATISTICS
from harness.protocols.testbed.run import evaluate_task
from harness.protocols.testbed.settings import ProbeSettings
from harness.protocols.testbed.summary import check_consistency, summarize
from harness.reporter import Reporter
from harness.sandbox.kinds.fresh import Fresh
from scoring import class_spread

SETTINGS = ProbeSettings(ssim=(0.7, 1.0))


class Place(NamedTuple):
    tasks: Path
    data: Path
    dataset: xr.Dataset
    said: list[str]


@pytest.fixture(scope="module", autouse=True)
def _surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Use a common cache, one process at a time, and the framework that starts fastest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGDL_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(probing, "PREFERRED", ("jax", "torch", "tensorflow"))
        patch.setattr("os.sched_getaffinity", lambda _: {0})
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A task of backbones and the results of their evaluation; two backbones cannot be probed."""
    directory = tmp_path_factory.mktemp("testbed")
    tasks = make_backbones(directory / "tasks", more=("constant", "convolution"))
    data, notes = make_data(directory / "data.npz"), Notes()
    dataset = evaluate_task(read_subject(tasks, "rows"), str(data), SETTINGS, notes)
    return Place(tasks, data, dataset, notes.lines)


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise an error if images are read or models run."""

    def refuse(*_: Any) -> None:
        raise AssertionError("a process would be started")

    monkeypatch.setattr(studied, "ask_all", refuse)
    monkeypatch.setattr("harness.protocols.testbed.material.read_images", refuse)


@pytest.fixture
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read images of .npz files in this process, since starting another process takes time."""
    from harness.corpus.datasets import load_data
    from harness.corpus.recipe import DataRecipe

    def read(data: str, input_shape: Any = None) -> Images:
        found = load_data(DataRecipe(source="npz", path=data, channels=input_shape[2] if input_shape else 3), Path())
        return Images(
            ImagePart(found.train_inputs, found.train_labels), ImagePart(found.test_inputs, found.test_labels)
        )

    monkeypatch.setattr("harness.protocols.testbed.material.read_images", read)


def divide(place: Place, data: Path, unseen: tuple[int, ...] | None = None) -> tuple[Images, Classes]:
    return divide_images(str(data), (SIDE, SIDE, 1), read_subject(place.tasks, "rows").task.data, unseen)


def test_every_cell_has_its_classes(place: Place) -> None:
    """A cell's statistics come from the classes in the cell. Errors are fewer than by chance, and grow with noise."""
    found = place.dataset
    assert dict(found.sizes) == {"model": len(WIDTHS), "ssim": 2, "unseen": 3, "class": N_CLASSES}
    assert found["n_unseen"].values.tolist() == [0, 1, 2]
    assert found["unseen"].values == pytest.approx([0, 1 / 4, 2 / 5])
    assert found["class"].values.tolist() == [0, 1, 2, 3, 4]
    assert found["is_seen"].values.tolist() == [True] * N_SEEN + [False] * 2
    for name in ("error_rate", "kappa"):
        present = np.isfinite(found[name].values).sum(axis=-1)
        assert (present == [3, 4, 5]).all(), "NaN where a class is not part of the cell"
    assert found["size"].values.tolist() == [144 * width + width + width * N_SEEN + N_SEEN for width in WIDTHS]
    cell = found.isel(model=1, ssim=0, unseen=2)
    for name, values in (("error", cell["error_rate"]), ("diversity", 1 - cell["kappa"])):
        spread = class_spread(values.values)
        statistics = [float(cell[f"{name}_{kind}"]) for kind in ("mean", "sd", "p10")]
        assert statistics == pytest.approx([spread.mean, spread.deviation, spread.percentile_10])
    assert float(cell["objective"]) == pytest.approx(sum(float(cell[name]) for name in STATISTICS))
    errors = found["error_mean"].isel(model=-1).values
    assert errors[1, 0] < 0.4 < 1 - 1 / N_SEEN
    assert errors[0].mean() > errors[1].mean()


def test_what_cannot_be_probed_is_named_and_left_out(place: Place) -> None:
    reasons = {
        "model_3": "its features are the same for every image",
        "model_4": "its last layer with weights is Conv2D, not a dense layer on a vector of features",
    }
    assert json.loads(place.dataset.attrs["failed"]) == reasons
    assert place.said[0].startswith(
        "3 seen and 2 unseen classes evaluated; 60 training images, 30 test images, at least 6"
    )
    assert sorted(place.said[1:]) == [f"{name} is left out: {reason}" for name, reason in reasons.items()]


@pytest.mark.usefixtures("no_process")
def test_a_repetition_computes_nothing_and_the_file_holds_all_of_it(place: Place, tmp_path: Path) -> None:
    from harness.protocols.testbed.results import write_dataset

    subject = read_subject(place.tasks, "rows", tuple(place.dataset["model"].values.tolist()))
    again = evaluate_task(subject, str(place.data), SETTINGS, Reporter())
    xr.testing.assert_identical(again.drop_attrs(), place.dataset.drop_attrs())
    read = xr.load_dataset(write_dataset(place.dataset, tmp_path / "testbed.nc"))
    xr.testing.assert_allclose(read, place.dataset)
    assert read.attrs == place.dataset.attrs


@pytest.mark.usefixtures("_read_here")
def test_an_interrupted_run_continues(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The backbone that was finished before the interruption is not computed again."""
    asked: list[str] = []

    def answer(
        _program: str, _runtime: Any, questions: list[AbstractContextManager[dict[str, Any]]]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for position, asking in enumerate(questions):
            with asking as question:
                if not question.get("check"):
                    asked.append(Path(question["model"]).name)
                    counts = np.ones((3, 2, N_CLASSES, N_CLASSES), np.int64) * len(asked)
                    described = {"counts": counts, "converged": np.ones(3, np.bool_)} | question["described"]
                    write_part(Path(question["target"]), **described)
            yield position, {}
            if len(asked) == 1 and not question.get("check"):
                raise KeyboardInterrupt

    names = ("model_0", "model_1", "model_2")
    settings = ProbeSettings(ssim=(0.7, 1.0), seed=1)
    arguments = read_subject(place.tasks, "rows", names), str(place.data), settings, Reporter()
    monkeypatch.setattr(studied, "ask_all", answer)
    with pytest.raises(KeyboardInterrupt):
        evaluate_task(*arguments)
    assert asked == ["model_0"]
    found = evaluate_task(*arguments)
    assert asked == ["model_0", "model_1", "model_2"]
    assert found["model"].values.tolist() == list(names)


def command(place: Place, measures: str) -> tuple[object, ...]:
    """Return the arguments of `pgdl testbed` for the evaluated backbones."""
    names = ",".join(place.dataset["model"].values)
    return (
        "testbed", "rows", "--tasks", place.tasks, "--data", place.data, "--models", names, "--ssim", "0.7,1",
        "--measures", measures,
    )  # fmt: skip


@pytest.mark.usefixtures("no_process")
def test_the_command_prints_a_table_or_json_and_writes(place: Place, pgdl: Pgdl, tmp_path: Path) -> None:
    code, out, err = pgdl(*command(place, "none"), "--format", "json")
    assert code == 0, err
    content, (point, _) = json.loads(out), summarize(place.dataset)
    assert (content["point"]["ssim"], content["point"]["objective"]) == (point.ssim, point.objective)
    assert len(content["marginals"]) == 3 + 2 + 3
    assert set(content) == {"point", "marginals", "consistency", "failed"}
    code, out, err = pgdl(*command(place, "none"), "--output", tmp_path / "deep" / "out")
    assert code == 0, err
    expected = f"trade-off point: SSIM {point.ssim:.3f}, {100 * point.unseen:.1f} % unseen classes"
    assert expected in out
    assert f"M_g {point.values['error_mean']:.3f}" in out
    plots = {f"{name}.{kind}" for name in ("marginals", "divergences") for kind in ("svg", "png")}
    assert {file.name for file in (tmp_path / "deep" / "out").iterdir()} == plots | {"testbed.nc", "marginals.csv"}
    rows = list(csv.DictReader((tmp_path / "deep" / "out" / "marginals.csv").read_text().splitlines()))
    assert [row["dimension"] for row in rows] == ["size"] * 3 + ["ssim"] * 2 + ["unseen"] * 3
    for dimension, others in (("size", ("ssim", "unseen")), ("ssim", ("model", "unseen"))):
        found = [float(row["error_mean"]) for row in rows if row["dimension"] == dimension]
        assert found == pytest.approx(place.dataset["error_mean"].mean(others).values)


def test_measures_are_called_in_the_sandbox_and_compared(
    place: Place, pgdl: Pgdl, tmp_path: Path, zygotes: Any, no_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cli.testbed.SHOWN", 0)
    problem = Fresh().problem()
    if problem is not None:
        pytest.skip(f"no sandbox here: {problem}")
    arguments = command(place, "num_params,distance_from_init")
    with zygotes.used():
        code, out, err = pgdl(*arguments, "--results", tmp_path / "records.db", "--output", tmp_path)
    assert code == 1, "distance_from_init needs the initial weights"
    assert "distance_from_init is left out: no value on 3 of 3 models" in err
    (row,) = csv.DictReader((tmp_path / "consistency.csv").read_text().splitlines())
    sizes = dict(zip(place.dataset["model"].values, place.dataset["size"].values, strict=True))
    (expected,) = check_consistency(place.dataset, {"num_params": sizes})
    assert [float(row[column]) for column in list(row)[1:]] == pytest.approx([*expected.errors.values(), expected.mean])
    assert "sign-errors of measures" in out
    assert f"and 1 more: all are in {tmp_path / 'consistency.csv'}" in out
    assert "no official score" not in out + err


def test_the_sign_error_of_a_measure_over_a_slice(place: Place) -> None:
    clean = place.dataset["error_p10"].sel(ssim=1).mean("unseen")
    values = dict(zip(clean["model"].values, clean.values, strict=True))
    (same,) = check_consistency(place.dataset, {"its own": values})
    ties = 3 - len(set(values.values()))
    assert same.errors["SSIM 1", "error_p10"] == pytest.approx(ties / 2 / 3)


def test_without_its_extra_one_line_names_it() -> None:
    hidden = """
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in ("skimage", "xarray") else found(name, *more)
sys.modules["skimage"] = sys.modules["xarray"] = None
sys.argv = ["pgdl", "testbed", "rows", "--data", "digits"]
from harness.cli.main import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"pgdl: the testbed; not installed: skimage, xarray; {install('testbed')}\n"


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("digit", "digit: not data: expected .npz, a directory of images, or one of digits, mnist"),
        ("digits --ssim 0.5,0.7", "SSIM: expected ascending numbers, the last 1"),
        ("digits --ssim 0,1", "SSIM: expected numbers above 0, at most 1, found 0.0, 1.0"),
        ("digits --unseen 1,2", "numbers of unseen classes: expected ascending numbers from"),
        ("digits --models model_9", "no model 'model_9' in rows: expected some of model_0"),
        ("digits --measures l2_nrm", "measures: no measure, family or cost 'l2_nrm'"),
    ],
)
def test_bad_arguments_are_one_line(place: Place, pgdl: Pgdl, arguments: str, message: str) -> None:
    more = () if "--measures" in arguments else ("--measures", "none")
    assert message in pgdl("testbed", "rows", "--tasks", place.tasks, "--data", *arguments.split(), *more).refusal()


LABELS = {part: make_images(n, seed)[1] for part, n, seed in (("train", 12, 0), ("test", 6, 1))}


@pytest.mark.usefixtures("_read_here")
@pytest.mark.parametrize(
    ("replaced", "unseen", "message"),
    [
        ({"y_test": np.where(LABELS["test"] == 4, 3, LABELS["test"])}, None, "class 4: expected test images"),
        ({"y_train": np.where(LABELS["train"] == 1, 0, LABELS["train"])}, None, "class 1: expected training images"),
        ({}, (0, 3), "unseen classes: expected at least 3, found 2"),
        ({"x_train": np.zeros((60, 8, 8, 1, 1))}, None, "x_train: expected shape"),
    ],
)
def test_data_that_do_not_fit_are_refused(
    place: Place, tmp_path: Path, replaced: Any, unseen: Any, message: str
) -> None:
    data = make_data(tmp_path / "data.npz", **replaced)
    with pytest.raises(UserError, match=message) as refused:
        divide(place, data, unseen)
    assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("_read_here")
def test_test_images_on_which_the_models_were_trained_are_left_out(place: Place, tmp_path: Path) -> None:
    """Among the test images of seen classes, half are training images of the task."""
    known, new = make_images(12, 0), make_images(3, 5)
    images, labels = (np.concatenate([old[:15], other]) for old, other in zip(known, new, strict=True))
    data = make_data(tmp_path / "data.npz", x_train=make_images(12, 6)[0], x_test=images, y_test=labels)
    found, _ = divide(place, data)
    assert found.notes[0] == "9 test images on which the models were trained are left out"
    assert np.bincount(found.test.labels).tolist() == [3, 3, 3, 6, 6]


@pytest.mark.usefixtures("_read_here")
def test_without_unseen_classes_only_0_percent_is_evaluated(place: Place, tmp_path: Path) -> None:
    """A note says that unseen classes are missing, but only if the user has not requested 0 % alone."""
    train, test = make_images(12, 0, N_SEEN), make_images(6, 1, N_SEEN)
    arrays = {"x_train": train[0], "y_train": train[1], "x_test": test[0], "y_test": test[1]}
    found, classes = divide(place, make_data(tmp_path / "data.npz", **arrays))
    assert classes.levels == (0,)
    assert found.notes[1] == "there are no unseen classes, so only 0 % is evaluated"
    found, _ = divide(place, make_data(tmp_path / "data.npz"), (0,))
    assert [note.partition(";")[0] for note in found.notes] == ["3 seen and 0 unseen classes evaluated"]


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_an_impossible_weight_is_refused_before_the_work(weight: float, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="weight: expected a finite number, at least 0"):
        testbeds.testbed("no_task", "digits", tasks_dir=tmp_path, weight=weight, measures=())


def test_steps_are_as_equal_as_whole_numbers_allow() -> None:
    steps = {50: (0, 10, 20, 30, 40, 50), 7: (0, 1, 3, 4, 6, 7), 2: (0, 1, 2), 0: (0,)}
    assert {number: equal_steps(number) for number in steps} == steps


@pytest.mark.usefixtures("no_process")
def test_images_smaller_than_the_window_are_refused(tmp_path: Path) -> None:
    tasks = make_backbones(tmp_path, name="small", side=10)
    with pytest.raises(UserError, match=r"at least 11 pixels high and wide, the window of SSIM, found 10 x 10"):
        evaluate_task(read_subject(tasks, "small"), "digits", SETTINGS, Reporter())
