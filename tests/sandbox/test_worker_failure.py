"""What a worker says of an error of a submission."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.worker.failure import MESSAGE, advise, print_error
from harness.worker.runtimes import RUNTIMES

KERAS_2 = RUNTIMES["keras2"]  # has no advice of its own


def error_of(source: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> BaseException:
    """Import a submission as a worker does, and return the error."""
    (directory / "failing.py").write_text(source)
    monkeypatch.syspath_prepend(directory)
    monkeypatch.delitem(sys.modules, "failing", raising=False)
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - whatever the submission raises
        importlib.import_module("failing")
    return raised.value


def test_a_missing_package_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = advise(error_of("import no_such_package.part", tmp_path, monkeypatch), KERAS_2)
    assert told.startswith("ModuleNotFoundError: No module named 'no_such_package' (no file of the submission")
    assert told.endswith("`pip list` there shows them, `pip install` adds one; docs/submissions.md#packages)")
    assert len(told) <= MESSAGE


@pytest.mark.parametrize(
    "source", ["import json.no_such", "raise ModuleNotFoundError('mine')", "from json import nothing", "1 / 0"]
)
def test_no_other_error_is_a_missing_package(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pip" not in advise(error_of(source, tmp_path, monkeypatch), KERAS_2)


def test_advice_of_the_runtime_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = error_of("import no_such_package", tmp_path, monkeypatch)
    assert advise(error, SimpleNamespace(advice=lambda _: " (cured)")).endswith("'no_such_package' (cured)")


def test_the_traceback_begins_in_the_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_error(error_of("import no_such_package", tmp_path, monkeypatch), caller=__file__)
    shown = capsys.readouterr().err.splitlines()
    assert shown[:2] == ["Traceback (most recent call last):", f'  File "{tmp_path}/failing.py", line 1, in <module>']
    assert not any("importlib" in line for line in shown)


def test_a_syntax_error_is_shown_with_its_line_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_error(error_of("def complexity(:", tmp_path, monkeypatch), caller=__file__)
    assert capsys.readouterr().err.startswith(f'  File "{tmp_path}/failing.py", line 1')
