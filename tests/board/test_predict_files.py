"""Tests of the competition's own `.predict` files."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from board_examples import Known

from harness.board.predictions import read_predictions
from harness.errors import UserError
from scoring import Failure


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "predictions").mkdir()
    return tmp_path / "predictions"


def read(directory: Path, known: Known, content: Any) -> dict[str, float | Failure]:
    """Write `content` to toy.predict, as JSON unless it is text, and return the values that the harness reads."""
    text = content if isinstance(content, str) else json.dumps(content)
    (directory / "toy.predict").write_text(text)
    return read_predictions(directory, known)["toy"]


def refusal(directory: Path, known: Known, content: Any = None) -> str:
    with pytest.raises(UserError) as error:
        read_predictions(directory, known) if content is None else read(directory, known, content)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


def test_numbers_by_either_name_of_a_model(directory: Path, known: Known) -> None:
    """The text EXCEEDED stands for a call that ran out of time; a task may lack a file."""
    found = read(directory, known, {"0": 1, "model_1": 0.1 + 0.2, "2": -1e-300, "3": "EXCEEDED"})
    exceeded = Failure("EXCEEDED", exceeded=True)
    values = {"model_0": 1.0, "model_1": 0.30000000000000004, "model_2": -1e-300, "model_3": exceeded}
    assert found == values
    assert read_predictions(directory, known) == {"toy": values, "second": {}}


@pytest.mark.parametrize(
    ("content", "ranks"),
    [
        ('{"model_0": Infinity, "model_1": -Infinity, "model_2": 0.5, "model_3": 1e400}', [2, 0, 1, 2]),
        (f'{{"model_0": {10**400}, "model_1": 3, "model_2": {10**400 + 1}, "model_3": 1.5}}', [2, 1, 3, 0]),
        (f'{{"model_0": {"9" * 5000}, "model_1": -{"9" * 5000}, "model_2": {10**400}, "model_3": 1}}', [3, 0, 2, 1]),
        (f'{{"model_0": {2**53}, "model_1": {2**53 + 1}, "model_2": 0, "model_3": 0.0}}', [1, 2, 0, 0]),
    ],
)
def test_numbers_that_no_float_holds_keep_their_order(
    content: str, ranks: list[int], directory: Path, known: Known
) -> None:
    """The competition's program compares such numbers exactly, too: JSON is read as Python's numbers."""
    assert list(read(directory, known, content).values()) == ranks


def test_nan_is_left_to_the_rule(directory: Path, known: Known) -> None:
    values = read(directory, known, '{"model_0": NaN, "model_1": Infinity, "model_2": 7}')
    assert (math.isnan(values.pop("model_0")), values) == (True, {"model_1": 1.0, "model_2": 0.0})  # type: ignore[arg-type]


def test_a_directory_without_any_file_says_what_it_expected(directory: Path, known: Known) -> None:
    message = refusal(directory, known)
    expected = "no predictions: expected second.predict or toy.predict, found no .predict file"
    assert message == f"{directory}: {expected}"
    (directory / "task4.predict").write_text("{}")
    assert refusal(directory, known).endswith("found task4.predict")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"model_8": 1.0}, "models that the reference data does not know: found model_8"),
        ({str(n): 1.0 for n in range(20, 25)}, "does not know: found model_20, model_21, model_22 ..."),
        *(({"model_0": value}, f"model_0: expected a number or 'EXCEEDED', found {value!r}")
          for value in ("1.0", "exceeded", True, None, [1.0])),
        ([1.0, 2.0], "not a JSON object: expected an object, found a list"),
        ("{'model_0': 1.0}", "not JSON: "),
        ("", "not JSON: "),
        ("[" * 100_000, "not JSON: "),
        ({"0": 1.0, "model_0": 2.0}, "model_0"),
        ('{"model_0": 1.0, "model_0": 2.0}', "model_0"),
    ],
    ids=[
        "unknown model", "many unknown models", "number as text", "lower case", "bool", "null", "list", "no object",
        "no JSON", "empty", "too deep", "one model by both names", "one model twice",
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(content: Any, problem: str, directory: Path, known: Known) -> None:
    message = refusal(directory, known, content)
    assert message.startswith(f"{directory / 'toy.predict'}: ")
    assert problem in message


def test_what_is_no_text_file_is_refused(directory: Path, known: Known) -> None:
    file = directory / "toy.predict"
    file.write_bytes(b'{"model_0": \xff}')
    assert f"{file}: not JSON: " in refusal(directory, known)
    file.unlink()
    file.mkdir()
    assert str(file) in refusal(directory, known)
