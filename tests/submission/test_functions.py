"""Tests of Python functions as submissions: the submission has only their source and the objects that they use."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from harness.credentials import may_be_secret
from harness.errors import UserError
from harness.submission import Submission, from_function

FACTOR = 3
SECRETS = (
    "token", "API_KEY", "secretWord", "DB_PASSWORD2", "HfTokens", "apikey", "aws_secret_access_key", "auth",
    "dbpassword", "MYTOKEN", "accesskeys", "apitoken2", "COOKIE",
)  # fmt: skip
NAMES = {"a": 1}
CENTRE = np.zeros(2)
mine = ModuleType("mine")


def halved(value: float) -> float:
    return value / 2


class Sum:
    def __call__(self, values: Any) -> float:
        return FACTOR * math.fsum(values)


def complexity(model: Any, dataset: Any) -> float:
    return halved(Sum()([kendalltau([1, 2, 3], model.values)[0], *np.ones(2)]))


def recursive(model: Any, dataset: Any) -> float:
    return 1.0 if model is None else recursive(None, dataset)


def loaded(submission: Submission) -> Callable[..., Any]:
    """Return the function that the harness would call, in a module with only the submission's code."""
    names: dict[str, Any] = {"__name__": "complexity"}
    exec(submission.files["complexity.py"], names)
    found: Callable[..., Any] = names["complexity"]
    return found


def test_what_a_function_uses_comes_with_it() -> None:
    found = from_function(complexity)
    model = SimpleNamespace(values=[1, 2, 4])
    assert loaded(found)(model, None) == complexity(model, None) == 4.5
    assert (found.name, found.is_baseline, list(found.files)) == ("complexity", False, ["complexity.py"])


token = "sesame"
SCALE, LIMIT, COUNT, LONG = 3.0, np.float64(2.5), 7, "x" * 1000


def with_shadows(model: Any, dataset: Any, token: float = 1.0) -> float:
    return model.token + token


def with_local(model: Any, dataset: Any) -> float:
    token = 2.0

    def inside() -> float:
        return token

    return inside()


def with_comprehension(model: Any, dataset: Any) -> float:
    return sum(token for token in model.values) + sum(SCALE for _ in model.values)


def with_class(model: Any, dataset: Any) -> float:
    class Rule:
        token = 1.0
        twice = 2 * token
        SCALE = SCALE

        def value(self) -> float:
            return self.SCALE + self.twice

    return Rule().value()


def with_default(model: Any, dataset: Any, scale: float = SCALE) -> float:
    return scale


def with_nested(model: Any, dataset: Any) -> float:
    def inside(scale: float) -> float:
        return (lambda: scale * LIMIT)()

    return inside(1.0)


def with_statement(model: Any, dataset: Any) -> float:
    global COUNT
    COUNT = abs(COUNT)
    return float(COUNT)


def with_infinity(model: Any, dataset: Any) -> float:
    return min(BOUND, NOWHERE.real, 1.0)


BOUND, NOWHERE = float("inf"), complex(-math.inf, math.nan)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (with_shadows, []),
        (with_local, []),
        (with_comprehension, ["with_comprehension contains copies of: SCALE = 3.0"]),
        (with_class, ["with_class contains copies of: SCALE = 3.0"]),
        (with_default, ["with_default contains copies of: SCALE = 3.0"]),
        (with_nested, ["with_nested contains copies of: LIMIT = 2.5"]),
        (with_statement, ["with_statement contains copies of: COUNT = 7"]),
        (with_infinity, ["with_infinity contains copies of: BOUND = inf, NOWHERE = (-inf+nanj)"]),
        (complexity, ["complexity contains copies of: FACTOR = 3"]),
    ],
)
def test_only_global_values_come_with_it_and_each_is_told(function: Callable[..., Any], told: list[str]) -> None:
    lines: list[str] = []
    found = from_function(function, note=lines.append)
    assert lines == told
    assert b"sesame" not in found.files["complexity.py"]
    model = SimpleNamespace(values=[1, 2, 4], token=1.0)
    assert loaded(found)(model, None) == function(model, None)


def test_a_long_value_is_told_in_short() -> None:
    def long(model: Any, dataset: Any) -> float:
        return float(len(LONG))

    lines: list[str] = []
    assert b"x" * 1000 in from_function(long, note=lines.append).files["complexity.py"]
    assert lines == [f"long contains copies of: LONG = '{'x' * 17}...{'x' * 18}'"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, "sesame") for name in SECRETS),
        ("results", "postgresql://me:sesame@host/name"),
        ("settings", "host=db password=sesame"),
    ],
)
def test_a_value_that_may_be_a_secret_does_not_come_with_it(name: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "notebook.py"
    file.write_text(f"{name} = {value!r}\ndef complexity(model, dataset):\n    return len({name})\n")
    names: dict[str, Any] = {"__name__": "notebook"}
    exec(compile(file.read_text(), file, "exec"), names)
    with pytest.raises(UserError) as raised:
        from_function(names["complexity"])
    assert str(raised.value) == (
        f"{name}: may be a secret, and would come with the function; if it is no secret, give it another name, or "
        "define it in the function"
    )


@pytest.mark.parametrize("name", ["monkey", "keystroke", "tokenizer_size", "SECRETARY", "passing", "author", "donkey"])
def test_names_that_only_begin_like_secrets_are_none(name: str) -> None:
    assert not may_be_secret(name)


def test_any_name_will_do_but_none_of_a_measure() -> None:
    found = from_function(recursive)
    assert (found.name, loaded(found)(1, None)) == ("recursive", 1.0)
    assert from_function(recursive, "another name").name == "another name"
    for name, problem in (("VC-dim", "cannot be called 'VC-dim': vc_dim is"), ("", "'': cannot be a name")):
        with pytest.raises(UserError, match=problem):
            from_function(recursive, name)


def test_a_change_of_what_is_used_is_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = from_function(complexity).digest
    assert from_function(complexity).digest == before
    monkeypatch.setitem(globals(), "FACTOR", 4)
    assert from_function(complexity).digest != before


def around(number: int) -> Callable[..., float]:
    def inside(model: Any, dataset: Any) -> float:
        return float(number)

    return inside


def with_array(model: Any, dataset: Any) -> float:
    return float(CENTRE.sum())


def with_module(model: Any, dataset: Any) -> float:
    return float(len(mine.VALUES))


def with_digits(model: Any, dataset: Any) -> float:
    return float(DIGITS)


DIGITS = 10**5000


def with_dictionary(model: Any, dataset: Any) -> float:
    return float(NAMES["a"])


made_by_exec: dict[str, Any] = {}
exec("def sourceless(model, dataset):\n    return 1.0\n", made_by_exec)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (around(1), "inside: uses variables of the function around it (number); define it in the function"),
        (with_array, "CENTRE: a ndarray cannot come with a function; define it in the function, or hand in a file"),
        (with_module, "mine: is not an installed module; hand in a directory that contains it"),
        (with_dictionary, "NAMES: a dict cannot come with a function"),
        (with_digits, "DIGITS: a number of that many digits cannot come with a function; define it in the function"),
        (made_by_exec["sourceless"], "sourceless: its source cannot be found; hand in a file"),
        (lambda model, dataset: 1.0, "expected a function defined with def"),
        (Path, "expected a function defined with def"),
    ],
)
def test_what_cannot_come_with_it_is_named(function: Callable[..., Any], problem: str) -> None:
    with pytest.raises(UserError) as raised:
        from_function(function)
    assert problem in str(raised.value)


def test_functions_of_a_script_come_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of scripts and notebooks belong to the module `__main__`, which other processes cannot import."""
    main = sys.modules["__main__"]
    for function in (complexity, halved):
        monkeypatch.setattr(function, "__module__", "__main__")
        monkeypatch.setattr(main, function.__name__, function, raising=False)
    assert b"__main__" not in from_function(complexity).files["complexity.py"]
