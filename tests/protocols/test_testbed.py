"""Tests of `pgdl testbed`: end to end on a tiny task of dense networks, its noise, its linear probe, and ties."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import xarray as xr
from in_process import Pgdl
from kept_notes import Notes
from small_tasks import N_CLASSES, N_SEEN, SIDE, WIDTHS, make_backbones, make_data, make_images

from harness.api import testbeds
from harness.corpus.datasets import load_data
from harness.corpus.recipe import DataRecipe
from harness.errors import UserError
from harness.extras import install
from harness.protocols import subject as studied
from harness.protocols.subject import read_subject
from harness.protocols.testbed import backbone_program, noise, probing
from harness.protocols.testbed.backbone_program import probe
from harness.protocols.testbed.images import ImagePart, Images
from harness.protocols.testbed.material import Classes, divide_images, equal_steps
from harness.protocols.testbed.noise import noisy_images, number_of_parts, similarity, write_noisy_images
from harness.protocols.testbed.results import CELL, STATISTICS, write_dataset
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

    @property
    def command(self) -> list[object]:
        names = ",".join(self.dataset["model"].values)
        return ["testbed", "rows", "--tasks", self.tasks, "--data", self.data, "--models", names, "--ssim", "0.7,1"]


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
    tasks = make_backbones(directory / "tasks")
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

    def read(data: str, input_shape: Any = None) -> Images:
        found = load_data(DataRecipe(source="npz", path=data, channels=input_shape[2] if input_shape else 3), Path())
        parts = ((found.train_inputs, found.train_labels), (found.test_inputs, found.test_labels))
        return Images(*(ImagePart(*part) for part in parts))

    monkeypatch.setattr("harness.protocols.testbed.material.read_images", read)


def divide(place: Place, data: Path, unseen: tuple[int, ...] | None = None) -> tuple[Images, Classes]:
    return divide_images(str(data), (SIDE, SIDE, 1), read_subject(place.tasks, "rows").task.data, unseen)


def test_every_cell_has_its_classes_and_what_cannot_be_probed_is_left_out(place: Place) -> None:
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

    reasons = {
        "model_3": "its features are the same for every image",
        "model_4": "its last layer with weights is Conv2D, not a dense layer on a vector of features",
    }
    assert json.loads(place.dataset.attrs["failed"]) == reasons
    evaluated = "3 seen and 2 unseen classes evaluated; 60 training images, 30 test images, at least 6"
    assert place.said[0].startswith(evaluated)
    assert sorted(place.said[1:]) == [f"{name} is left out: {reason}" for name, reason in reasons.items()]


@pytest.mark.usefixtures("no_process")
def test_a_repetition_computes_nothing_and_the_file_holds_all_of_it(place: Place, tmp_path: Path) -> None:
    subject = read_subject(place.tasks, "rows", tuple(place.dataset["model"].values.tolist()))
    again = evaluate_task(subject, str(place.data), SETTINGS, Reporter())
    xr.testing.assert_identical(again.drop_attrs(), place.dataset.drop_attrs())
    read = xr.load_dataset(write_dataset(place.dataset, tmp_path / "testbed.nc"))
    xr.testing.assert_allclose(read, place.dataset)
    assert read.attrs == place.dataset.attrs


@pytest.mark.usefixtures("_read_here")
def test_only_backbones_without_results_are_asked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def refuse(_program: str, _runtime: Any, questions: list[Any]) -> Iterator[tuple[int, UserError]]:
        for position, asking in enumerate(questions):
            with asking as question:
                asked.append(Path(question["model"]).name)
            yield position, UserError("cannot be run")

    monkeypatch.setattr(studied, "ask_all", refuse)
    found = evaluate_task(read_subject(place.tasks, "rows"), str(place.data), SETTINGS, Reporter())
    assert asked == ["model_3", "model_4"]
    assert found["model"].values.tolist() == place.dataset["model"].values.tolist()


@pytest.mark.usefixtures("no_process")
def test_the_command_prints_a_table_or_json_and_writes(place: Place, pgdl: Pgdl, tmp_path: Path) -> None:
    code, out, err = pgdl(*place.command, "--measures", "none", "--format", "json")
    assert code == 0, err
    content, (point, _) = json.loads(out), summarize(place.dataset)
    assert (content["point"]["ssim"], content["point"]["objective"]) == (point.ssim, point.objective)
    assert len(content["marginals"]) == 3 + 2 + 3
    assert set(content) == {"point", "marginals", "consistency", "failed"}
    code, out, err = pgdl(*place.command, "--measures", "none", "--output", tmp_path / "deep" / "out")
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
    options = ("--measures", "num_params,distance_from_init", "--results", tmp_path / "records.db")
    with zygotes.used():
        code, out, err = pgdl(*place.command, *options, "--output", tmp_path)
    assert code == 1, "distance_from_init needs the initial weights"
    assert "distance_from_init is left out: no value on 3 of 3 models" in err
    (row,) = csv.DictReader((tmp_path / "consistency.csv").read_text().splitlines())
    sizes = dict(zip(place.dataset["model"].values, place.dataset["size"].values, strict=True))
    (expected,) = check_consistency(place.dataset, {"num_params": sizes})
    assert [float(row[column]) for column in list(row)[1:]] == pytest.approx([*expected.errors.values(), expected.mean])
    assert "sign-errors of measures" in out
    assert f"and 1 more: all are in {tmp_path / 'consistency.csv'}" in out
    assert "no official score" not in out + err
    clean = place.dataset["error_p10"].sel(ssim=1).mean("unseen")
    values = dict(zip(clean["model"].values, clean.values, strict=True))
    (same,) = check_consistency(place.dataset, {"its own": values})
    assert same.errors["SSIM 1", "error_p10"] == pytest.approx((3 - len({*values.values()})) / 2 / 3), "ties alone"


@pytest.mark.rest
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
    steps = {50: (0, 10, 20, 30, 40, 50), 7: (0, 1, 3, 4, 6, 7), 2: (0, 1, 2), 0: (0,)}
    assert {number: equal_steps(number) for number in steps} == steps, "as equal as whole numbers allow"
    train, test = make_images(12, 0, N_SEEN), make_images(6, 1, N_SEEN)
    arrays = {"x_train": train[0], "y_train": train[1], "x_test": test[0], "y_test": test[1]}
    found, classes = divide(place, make_data(tmp_path / "data.npz", **arrays))
    assert classes.levels == (0,)
    assert found.notes[1] == "there are no unseen classes, so only 0 % is evaluated"
    found, _ = divide(place, make_data(tmp_path / "data.npz"), (0,))
    assert [note.partition(";")[0] for note in found.notes] == ["3 seen and 0 unseen classes evaluated"]


@pytest.mark.usefixtures("no_process")
def test_images_smaller_than_the_window_and_impossible_weights_are_refused(tmp_path: Path) -> None:
    for weight in (-1.0, float("nan"), float("inf")):
        with pytest.raises(UserError, match="weight: expected a finite number, at least 0"):
            testbeds.testbed("no_task", "digits", tasks_dir=tmp_path, weight=weight, measures=())
    tasks = make_backbones(tmp_path, name="small", side=10)
    with pytest.raises(UserError, match=r"at least 11 pixels high and wide, the window of SSIM, found 10 x 10"):
        evaluate_task(read_subject(tasks, "small"), "digits", SETTINGS, Reporter())


IMAGES = np.random.default_rng(0).uniform(0, 1, (5, 16, 13, 3)).astype(np.float32)
TARGETS = (0.05, 0.6, 0.85, 0.99)


def test_images_that_are_black_or_grey_or_not_finite(tmp_path):
    black = np.zeros((1, 11, 11, 1), np.float32)
    for one in (black, IMAGES[:1, ..., :1]):
        assert similarity(one[0], noisy_images(one, [0.7], 0)[0, 0]) == pytest.approx(0.7, abs=0.005)
    images = IMAGES.copy()
    images[4, 3, 3] = np.nan
    with pytest.raises(UserError, match=r"noise on test image 4: expected an SSIM of 0.6, found nan"):
        write_noisy_images(images, [0.6], 0, tmp_path, lambda: None)


def test_an_image_has_one_draw_by_seed_and_position_that_is_scaled_to_the_wanted_similarity(tmp_path, monkeypatch):
    whole = noisy_images(IMAGES, TARGETS, 3)
    for target, found in zip(TARGETS, whole, strict=True):
        assert [similarity(*pair) for pair in zip(IMAGES, found, strict=True)] == pytest.approx([target] * 5, abs=0.005)
    first, *others = whole - IMAGES
    for other in others:
        ratio = first / other
        np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1, :1, :1], ratio.shape), rtol=0.02)
        assert (abs(ratio[:, 0, 0, 0]) > 1).all(), "the smaller the similarity, the more noise"
    monkeypatch.setattr(noise, "CHUNK", 2 * IMAGES[0].size)
    steps = []
    files = write_noisy_images(IMAGES, TARGETS, 3, tmp_path, lambda: steps.append(1))
    assert len(steps) == number_of_parts(IMAGES) == 3
    for file, expected in zip(files, whole, strict=True):
        np.testing.assert_allclose(np.load(file), expected, rtol=1e-6)
    assert not np.allclose(whole, noisy_images(IMAGES, TARGETS, 4), atol=0.01)


def blobs(n_per_class: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    labels = np.tile(np.arange(4, dtype=np.int32), n_per_class)
    return np.eye(4)[labels] * 1e4 + np.random.default_rng(seed).normal(size=(len(labels), 4)), labels


def test_separable_features_are_told_apart_beside_features_that_never_vary(monkeypatch, recwarn):
    (train, labels), (test, test_labels) = blobs(10, 0), blobs(5, 1)
    counts, converged = probe(train, labels, [test, test], test_labels, [2, 4])
    assert counts.shape == (2, 2, 4, 4)
    for level, number in enumerate((2, 4)):
        expected = np.diag([5] * number + [0] * (4 - number))
        assert (counts[level] == expected).all(), "only the classes of the level, each of its test images once"
    assert converged.all()
    expected, _ = probe(train, labels, [test], test_labels, [4])
    wide, other = (np.hstack([points, np.zeros((len(points), 2))]) for points in (train, test))
    assert (probe(wide, labels, [other], test_labels, [4])[0] == expected).all()
    monkeypatch.setattr(backbone_program, "ITERATIONS", 1)
    assert not probe(train, labels, [train], labels, [4])[1].any(), "a probe that does not converge says so"


def test_backbones_with_equal_mean_errors_tie_in_whichever_order_the_errors_are_summed():
    errors = CELL, [[[0.1], [0.2], [0.3]], [[0.3], [0.2], [0.1]]]
    places = {"model": ["first", "second"], "ssim": [0.8, 0.9, 1.0], "unseen": [0.0]}
    dataset = xr.Dataset({"error_mean": errors, "error_p10": errors}, places)
    (found,) = check_consistency(dataset, {"measure": {"first": 1.0, "second": 2.0}})
    assert [found.errors["unseen 0 %", name] for name in ("error_mean", "error_p10")] == [0.5, 0.5]
