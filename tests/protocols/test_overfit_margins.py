"""Tests of shifted images, of margins, and of their settings."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from overfit_tasks import Network, torus_digits

from harness.errors import UserError
from harness.format.architecture import parse_architecture
from harness.format.layout import CONFIG
from harness.protocols.overfit.margins import margins_of, needs_of, shifted_margins, without_softmax
from harness.protocols.overfit.report import p_value_text
from harness.protocols.overfit.rows import groups_of
from harness.protocols.overfit.run import estimates_of
from harness.protocols.overfit.settings import Generator, parse_radii, possible_radii
from harness.protocols.overfit.shifts import Shifts, black_of, find_positions
from scoring import nearest_translation, strongest_translation

BLACK = np.zeros(1, np.float32)


def network(seed: int = 0) -> Network:
    random = np.random.default_rng(seed)
    weights = [
        [random.normal(size=shape).astype(np.float32), np.zeros(shape[1], np.float32)] for shape in ((64, 16), (16, 10))
    ]
    return Network([], weights)


def all_shifts(images: np.ndarray, reach: int, black: np.ndarray | None) -> dict[tuple[int, int], np.ndarray]:
    """Return shift (down, right) -> the first image after this shift."""
    shifts, found = Shifts(images, reach, black), {}
    wanted = np.zeros((len(images), 2 * reach + 1, 2 * reach + 1), bool)
    wanted[0] = True
    for (_, rows, columns), batch in shifts.batches(wanted, size=7):
        assert batch.shape == (7, *images.shape[1:]), "a model is compiled for one size of a batch"
        found |= {
            (row - reach, column - reach): image for row, column, image in zip(rows, columns, batch, strict=False)
        }
    return found


def test_images_are_shifted_down_and_to_the_right_on_a_torus_and_else_black_comes_in() -> None:
    images = np.random.default_rng(0).random((2, 5, 6, 2), dtype=np.float32)
    found = all_shifts(images, 2, None)
    assert len(found) == 25
    for (down, right), image in found.items():
        np.testing.assert_array_equal(image, np.roll(images[0], (down, right), axis=(0, 1)))
    black = np.array([-3, 7], np.float32)
    found = all_shifts(images, 1, black)
    moved = found[1, -1]
    np.testing.assert_array_equal(moved[1:, :-1], images[0, :-1, 1:])
    assert (moved[0] == black).all()
    assert (moved[:, -1] == black).all()
    np.testing.assert_array_equal(found[0, 0], images[0])


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
@pytest.mark.parametrize("generator", Generator)
def test_few_margins_give_the_same_estimates_as_all(generator: Generator, black: np.ndarray | None) -> None:
    images, labels = torus_digits(60)
    labels = np.where(np.arange(60) % 2, labels, network().predict(images).argmax(axis=1)).astype(np.int32)
    n_asked = 0

    def predict(batch: np.ndarray) -> np.ndarray:
        nonlocal n_asked
        n_asked += len(batch)
        return network().predict(batch)

    everything = shifted_margins(predict, images, labels, 2, black, lambda grid: np.ones(grid.shape, bool))
    n_all, n_asked = n_asked, 0
    part = shifted_margins(predict, images, labels, 2, black, needs_of([1, 2]))
    assert n_asked < 0.8 * n_all
    for radius in (1, 2):
        found, expected = (estimates_of(one, radius, generator) for one in (part, everything))
        for name in ("losses", "moved_losses", "densities"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_the_estimates_are_those_of_the_whole_grid() -> None:
    images, labels = torus_digits(30)
    whole = np.empty((30, 13, 13))
    for row in range(13):
        for column in range(13):
            moved = np.roll(images, (row - 6, column - 6), axis=(1, 2))
            whole[:, row, column] = margins_of(network().predict(moved), labels)
    part = shifted_margins(network().predict, images, labels, 2, None, needs_of([2]))
    for generator, make in ((Generator.STRONGEST, strongest_translation), (Generator.NEAREST, nearest_translation)):
        found = estimates_of(part, 2, generator)
        np.testing.assert_array_equal(found.weighted_losses, make(2).estimates(whole).weighted_losses)


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinite")])
def test_outputs_that_are_no_numbers_are_named(value: float, name: str) -> None:
    images, labels = torus_digits(3)
    with pytest.raises(ArithmeticError, match=f"its outputs are {name}"):
        shifted_margins(lambda batch: np.full((len(batch), 10), value), images, labels, 1, BLACK, needs_of([1]))


def architecture(*layers: dict[str, object]) -> dict[str, Any]:
    """Return the canonical form of layers in the competition's format."""
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
