"""Tests of `pgdl overfit TASK`: of networks that classify only their training set correctly, and of its parts."""

import csv
import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import Ended, Pgdl, in_process
from small_tasks import Network, fitted_network, torus_digits, write_task
from throwaway import make_task

from harness.errors import UserError
from harness.format.architecture import parse_architecture
from harness.format.layout import CONFIG
from harness.protocols import subject as studied
from harness.protocols.files import write_part
from harness.protocols.overfit import run as overfit
from harness.protocols.overfit.margins import margins_of, needs_of, shifted_margins, without_softmax
from harness.protocols.overfit.report import p_value_text
from harness.protocols.overfit.rows import OverfitGroup, groups_of
from harness.protocols.overfit.run import detect_overfitting, estimates_of
from harness.protocols.overfit.settings import Edges, Generator, OverfitSettings, parse_radii, possible_radii
from harness.protocols.overfit.shifts import Shifts, black_of, find_positions
from harness.protocols.subject import read_subject
from scoring import nearest_translation, strongest_translation

WRAP = OverfitSettings((1, 2), "train", edges=Edges.WRAP)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Iterator[Path]:
    """A directory with the task `torus`, and an empty cache.

    model_0 and model_1 differ only in their seeds; model_2 is model_0 with a softmax; outputs of model_3 overflow.
    """
    directory = tmp_path_factory.mktemp("overfit")
    train = torus_digits(200)
    first, second = (fitted_network(train, seed=seed) for seed in range(2))
    third = first._replace(layers=[*first.layers, SOFTMAX])
    broken = second._replace(weights=[[array * 1e20 for array in pair] for pair in second.weights])
    write_task(directory, [first, second, third, broken], train, torus_digits(400, first=700, seed=1))
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


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    write_parts = overfit.write_parts

    def write(program: str, runtime: Any, subject: Any, files: Any, *others: Any) -> Any:
        names.extend(files)
        return write_parts(program, runtime, subject, files, *others)

    monkeypatch.setattr(overfit, "write_parts", write)
    return names


def test_models_are_found_to_depend_on_their_training_set_with_a_softmax_or_without(pgdl, home, asked) -> None:
    """A first attempt is interrupted after one model; a command and another generator use the same margins."""
    models = ("model_0", "model_1", "model_2")
    subject = read_subject(home, "torus", models)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        detect_overfitting(subject, WRAP, interrupt)
    asked.clear()
    train_rows = list(detect_overfitting(subject, WRAP).rows)
    assert asked == ["model_1", "model_2"], "finished models are not computed again"
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

    asked.clear()
    options = ("--split", "train", "--edges", "wrap", "--epsilon", "1,2", "--models", ",".join(models))
    outcome = pgdl("torus", *options, "--format", "json")
    content = json.loads(outcome.out)
    assert (outcome.code, content["task"], content["failures"]) == (0, "torus", {})
    assert [row["p_value"] for row in content["rows"]] == [row.p_value for row in train_rows]
    assert content["rows"][0]["models"] == [*models]

    nearest = detect_overfitting(subject, OverfitSettings((1, 2), "train", Generator.NEAREST, Edges.WRAP))
    assert asked == []
    for epsilon in (1, 2):
        (strongest,) = (row for row in train_rows if (row.group.name, row.epsilon) == ("model_0", epsilon))
        assert nearest.row("model_0", epsilon).adversarial_error_rate == strongest.adversarial_error_rate
    assert nearest.row("all", 1).group.kind is OverfitGroup.ALL
    with pytest.raises(KeyError, match="no row 'all' with epsilon 3"):
        nearest.row("all", 3)


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


BLACK = np.zeros(1, np.float32)


def network() -> Network:
    random, shapes = np.random.default_rng(0), ((64, 16), (16, 10))
    weights = [[random.normal(size=shape).astype(np.float32), np.zeros(shape[1], np.float32)] for shape in shapes]
    return Network.dense(*weights)


def moved_by_hand(images: np.ndarray, down: int, right: int, black: np.ndarray | None) -> np.ndarray:
    moved = np.roll(images, (down, right), axis=(1, 2))
    if black is not None:
        moved[:, slice(0, down) if down > 0 else slice(8 + down, 8)] = black
        moved[:, :, slice(0, right) if right > 0 else slice(8 + right, 8)] = black
    return moved


@pytest.mark.parametrize("black", [None, np.array([-3, 7], np.float32)], ids=["wrap", "black"])
def test_images_are_shifted_down_and_to_the_right_on_a_torus_and_else_black_comes_in(black: np.ndarray | None) -> None:
    images = np.random.default_rng(0).random((2, 8, 8, 2), dtype=np.float32)
    shifts, wanted, found = Shifts(images, 2, black), np.zeros((2, 5, 5), bool), []
    wanted[0] = True
    for (_, rows, columns), batch in shifts.batches(wanted, size=7):
        assert batch.shape == (7, 8, 8, 2), "a model is compiled for one size of a batch"
        for row, column, image in zip(rows, columns, batch, strict=False):
            np.testing.assert_array_equal(image, moved_by_hand(images, row - 2, column - 2, black)[0])
            found.append((row, column))
    assert len({*found}) == len(found) == 25


def test_margins_of_shifted_images_and_black() -> None:
    unit = np.random.default_rng(0).uniform(0.2, 0.9, (3, 4, 4, 2)).astype(np.float32)
    assert black_of(unit).tolist() == [0, 0]
    normalized = (unit - 0.5) * 4
    np.testing.assert_array_equal(black_of(normalized), normalized.min(axis=(0, 1, 2)))
    logits = np.array([[1, 5, 2], [1, 5, 2], [3, 3, 0]], np.float32)
    np.testing.assert_array_equal(margins_of(logits, np.array([1, 2, 0])), [-3, 3, 0])


def test_a_network_with_equal_outputs_errs_as_often_as_its_accuracy_says() -> None:
    """Of equal outputs, the first is the network's answer, as for the accuracies in reference data."""
    images, labels = torus_digits(30)
    part = shifted_margins(lambda batch: np.zeros((len(batch), 10), np.float32), images, labels, 1, None, needs_of([1]))
    assert estimates_of(part, 1, Generator.STRONGEST).error_rate == np.mean(labels != 0)


@pytest.mark.parametrize("black", [None, BLACK], ids=["wrap", "black"])
def test_estimates_are_those_of_the_whole_grid_but_few_margins_are_asked_for(black: np.ndarray | None) -> None:
    images, labels = torus_digits(60)
    labels = np.where(np.arange(60) % 2, labels, network().predict(images).argmax(axis=1)).astype(np.int32)
    whole, asked = np.empty((60, 13, 13)), []
    for row, column in itertools.product(range(13), range(13)):
        moved = moved_by_hand(images, row - 6, column - 6, black)
        whole[:, row, column] = margins_of(network().predict(moved), labels)

    def predict(batch: np.ndarray) -> np.ndarray:
        asked.append(len(batch))
        return network().predict(batch)

    part = shifted_margins(predict, images, labels, 2, black, needs_of([1, 2]))
    assert sum(asked) < 0.8 * whole.size
    for generator, make in ((Generator.STRONGEST, strongest_translation), (Generator.NEAREST, nearest_translation)):
        for radius in (1, 2):
            grid = whole[:, 6 - 3 * radius : 7 + 3 * radius, 6 - 3 * radius : 7 + 3 * radius]
            found, expected = estimates_of(part, radius, generator), make(radius).estimates(grid)
            for name in ("losses", "moved_losses", "weighted_losses"):
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinite")])
def test_outputs_that_are_no_numbers_are_named(value: float, name: str) -> None:
    images, labels = torus_digits(3)
    with pytest.raises(ArithmeticError, match=f"its outputs are {name}"):
        shifted_margins(lambda batch: np.full((len(batch), 10), value), images, labels, 1, BLACK, needs_of([1]))


def architecture(*layers: dict[str, object]) -> dict[str, Any]:
    return parse_architecture({"model_config": [*layers], "input_shape": [12]}, Path(CONFIG)).canonical


def dense(activation: str) -> dict[str, object]:
    return {"layer_name": "Dense", "units": 10, "activation": activation}


SOFTMAX = {"layer_name": "Softmax", "axis": -1}
FUNCTION = {"layer_name": "Activation", "activation": "softmax"}
LINEAR = {"layer_name": "Activation", "activation": "linear"}
DROPOUT = {"layer_name": "Dropout", "rate": 0.5}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([dense("linear"), SOFTMAX], [dense("linear"), LINEAR]),
        ([dense("linear"), FUNCTION], [dense("linear"), LINEAR]),
        ([dense("softmax")], [dense("linear")]),
        ([dense("softmax"), DROPOUT], [dense("linear"), DROPOUT]),
        ([dense("softmax"), dense("linear")], [dense("softmax"), dense("linear")]),
    ],
)
def test_a_final_softmax_is_removed(given: list[dict[str, object]], expected: list[dict[str, object]]) -> None:
    assert without_softmax(architecture(*given)) == architecture(*expected)


def test_a_softmax_that_is_also_somewhere_else_stays() -> None:
    shared = {"name": "shared", "units": 10, "activation": "softmax"}
    layers = [
        {"class_name": "InputLayer", "name": "in", "config": {"batch_shape": [None, 10]}, "inbound_nodes": []},
        {"class_name": "Dense", "name": "d", "config": shared, "inbound_nodes": [[["in", 0, 0]], [["d", 0, 0]]]},
    ]
    config = {"layers": layers, "input_layers": [["in", 0, 0]], "output_layers": [["d", 1, 0]]}
    found = parse_architecture({"class_name": "Functional", "config": config}, Path(CONFIG)).canonical
    assert (len(found["layers"]), without_softmax(found)) == (2, found)


def test_radii_are_numbers_lists_or_ranges() -> None:
    expected = {"3": (3,), "1,2,4": (1, 2, 4), "4, 1,1": (1, 4), "1..5": (1, 2, 3, 4, 5), "2..2": (2,)}
    assert {text: parse_radii(text) for text in expected} == expected
    for text in ("", "0", "0..3", "3..1", "1..99999999999", "-1", "1.5", "a", "1,,2", "1,2..3", "٣"):
        with pytest.raises(ValueError, match=r"1,2,4 or 1\.\.5"):
            parse_radii(text)


def test_radii_must_leave_something_of_the_images() -> None:
    for given, shape, found in (
        ((), (8, 8, 1), (1, 2)),
        ((), (32, 40, 3), (1, 2, 3, 4, 5)),
        ((10,), (32, 40, 3), (10,)),
        ([2, 1, 2], (8, 8, 1), (1, 2)),
    ):
        assert possible_radii(given, shape) == found
    for given, shape, problem in (
        ((1, 11), (32, 40, 3), r"at most 10: .* images of 32 pixels, found 11; use --epsilon 1\.\.10"),
        ((0, 1), (8, 8, 1), "epsilon: expected 1 or more, found 0"),
        ((), (28, 3, 1), "at least 4 pixels high and wide, found 28x3"),
        ((1,), (12,), r"\(height, width, channels\), found shape \(12,\)"),
    ):
        with pytest.raises(UserError, match=problem):
            possible_radii(given, shape)


def test_images_that_are_centred_or_without_a_margin_are_noticed() -> None:
    """Images show a square of 3 x 3 pixels, always in the middle or at random positions; or digits on a torus."""
    random, square = np.random.default_rng(0), np.zeros((500, 32, 32, 1), np.float32)
    square[:, 14:17, 14:17] = 1
    centred = find_positions(square, BLACK)
    assert (centred.spread, centred.touching) == (0, 0)
    (note,) = centred.notes((1, 2))
    assert "varies by 0.0 pixels" in note
    anywhere = np.array([np.roll(image, random.integers(-13, 14, 2), axis=(0, 1)) for image in square])
    spread = find_positions(anywhere, BLACK)
    assert spread.spread == pytest.approx(np.sqrt((27**2 - 1) / 12), rel=0.1)
    assert list(spread.notes((1, 2, 3))) == []
    (note,) = spread.notes((1, 2, 6))
    assert "shifts by 6 or more" in note
    images, _ = torus_digits(300)
    assert "not black at their edges" in list(find_positions(images, BLACK).notes((1,)))[-1]
    assert list(find_positions(images, None).notes((1, 2))) == [], "nothing is cut off on a torus"
    images[:] = images[:1]
    (note,) = find_positions(images, None).notes((1,))
    assert "centred" in note


def test_groups_and_p_values_in_a_report() -> None:
    assert [(g.name, g.models) for g in groups_of({"a": "x", "b": "y", "c": "x"})] == [
        ("all", ("a", "b", "c")), ("architecture 1", ("a", "c")), ("a", ("a",)), ("b", ("b",)), ("c", ("c",)),
    ]  # fmt: skip
    assert [group.name for group in groups_of({"a": "x", "b": "x"})] == ["all", "a", "b"]
    assert [group.name for group in groups_of({"a": "x"})] == ["a"]
    assert [p_value_text(value) for value in (1.0, 0.234, 0.01, 0.0034, 2.3e-17, 0.0)] == [
        "1.00", "0.23", "0.01", "0.003", "2e-17", "<1e-300",
    ]  # fmt: skip
