"""Tests of Python functions as submissions: the submission has only their source and the objects that they use."""

import math
import re
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


token = "sesame"
IN_SUM, IN_CLASS, AS_DEFAULT, INSIDE, COUNT, LONG = 3.0, 4, 5.0, np.float64(2.5), 7, "x" * 1000
BOUND, NOWHERE = float("inf"), complex(-math.inf, math.nan)


def with_shadows(model: Any, dataset: Any, token: float = 1.0) -> float:
    return model.token + token


def with_scopes(model: Any, dataset: Any, scale: float = AS_DEFAULT) -> float:
    """Read some global values in every way; `token` has only local meanings."""

    def inside() -> float:
        token = 2.0
        return (lambda: token * INSIDE)()

    class Rule:
        token = 1.0
        twice = 2 * token
        IN_CLASS = IN_CLASS

        def value(self) -> float:
            return self.IN_CLASS + self.twice

    in_generators = sum(token for token in model.values) + sum(IN_SUM for _ in model.values)
    return scale + inside() + Rule().value() + in_generators + min(BOUND, NOWHERE.real, 1.0)


def with_statement(model: Any, dataset: Any) -> float:
    global COUNT
    COUNT = abs(COUNT)
    return float(COUNT)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (with_shadows, ""),
        (
            with_scopes,
            "AS_DEFAULT = 5.0, BOUND = inf, INSIDE = 2.5, IN_CLASS = 4, IN_SUM = 3.0, NOWHERE = (-inf+nanj)",
        ),
        (with_statement, "COUNT = 7"),
        (complexity, "FACTOR = 3"),
    ],
)
def test_only_global_values_come_with_it_and_each_is_told(function: Callable[..., Any], told: str) -> None:
    lines: list[str] = []
    found = from_function(function, note=lines.append)
    assert [", ".join(sorted(re.split(", (?=[A-Z])", line.partition(": ")[2]))) for line in lines] == [told] * bool(
        told
    )
    assert all(line.startswith(f"{function.__name__} contains copies of: ") for line in lines)
    assert b"sesame" not in found.files["complexity.py"]
    assert (found.name, found.is_baseline, list(found.files)) == (function.__name__, False, ["complexity.py"])
    model = SimpleNamespace(values=[1, 2, 4], token=1.0)
    assert loaded(found)(model, None) == function(model, None)


def test_a_long_value_is_told_in_short() -> None:
    def long(model: Any, dataset: Any) -> float:
        return float(len(LONG))

    lines: list[str] = []
    assert b"x" * 1000 in from_function(long, note=lines.append).files["complexity.py"]
    assert lines == [f"long contains copies of: LONG = '{'x' * 17}...{'x' * 18}'"]


SECRETS = """token API_KEY secretWord DB_PASSWORD2 HfTokens apikey aws_secret_access_key auth dbpassword MYTOKEN
    accesskeys apitoken2 COOKIE"""


@pytest.fixture
def using(tmp_path: Path) -> Callable[[str, object], Callable[..., Any]]:
    """Return a function that makes `measure`, which reads a global name with a value."""

    def make(name: str, value: object) -> Callable[..., Any]:
        file = tmp_path / f"of_{name}.py"
        file.write_text(f"def measure(model, dataset):\n    return {name}\n")
        names: dict[str, Any] = {"__name__": "notebook", name: value}
        exec(compile(file.read_text(), file, "exec"), names)
        measure: Callable[..., Any] = names["measure"]
        return measure

    return make


def test_a_value_that_may_be_a_secret_does_not_come_with_it(using: Any) -> None:
    values = dict.fromkeys(SECRETS.split(), "sesame")
    values |= {"results": "postgresql://me:sesame@host/name", "settings": "host=db password=sesame"}
    for name, value in values.items():
        with pytest.raises(UserError) as raised:
            from_function(using(name, value))
        assert str(raised.value) == (
            f"{name}: may be a secret, and would come with the function; if it is no secret, give it another name, or "
            "define it in the function"
        )
    for name in ("monkey", "keystroke", "tokenizer_size", "SECRETARY", "passing", "author", "donkey"):
        assert not may_be_secret(name), name


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


made_by_exec: dict[str, Any] = {}
exec("def sourceless(model, dataset):\n    return 1.0\n", made_by_exec)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (around(1), "inside: uses variables of the function around it (number); define it in the function"),
        (made_by_exec["sourceless"], "sourceless: its source cannot be found; hand in a file"),
        (lambda model, dataset: 1.0, "expected a function defined with def"),
        (Path, "expected a function defined with def"),
    ],
)
def test_what_cannot_come_with_it_is_named(function: Callable[..., Any], problem: str) -> None:
    with pytest.raises(UserError) as raised:
        from_function(function)
    assert problem in str(raised.value)


def test_a_value_that_cannot_come_with_it_is_named(using: Any) -> None:
    for value, problem in (
        (np.zeros(2), "a ndarray cannot come with a function; define it in the function, or hand in a file"),
        (ModuleType("mine"), "is not an installed module; hand in a directory that contains it"),
        ({"a": 1}, "a dict cannot come with a function"),
        (10**5000, "a number of that many digits cannot come with a function; define it in the function"),
    ):
        with pytest.raises(UserError) as raised:
            from_function(using("VALUE", value))
        assert str(raised.value).startswith(f"VALUE: {problem}")


def test_functions_of_a_script_come_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of scripts and notebooks belong to the module `__main__`, which other processes cannot import."""
    main = sys.modules["__main__"]
    for function in (complexity, halved):
        monkeypatch.setattr(function, "__module__", "__main__")
        monkeypatch.setattr(main, function.__name__, function, raising=False)
    assert b"__main__" not in from_function(complexity).files["complexity.py"]
