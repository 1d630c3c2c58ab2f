"""Tests of code of 2020: it finds names that Python and NumPy have removed since, with their old meaning."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.worker import legacy
from harness.worker.runtimes import RUNTIMES

ROOT = Path(__file__).parents[2]

#: Expressions of 2020 and what they gave with Python 3.6 and NumPy 1.19, seen there.
THEN = {
    "np.int is int and np.float is float and np.complex is complex": True,
    "np.object is object and np.str is str and np.unicode is str": True,
    "np.zeros(2, np.bool).dtype.name, np.zeros(2, np.int).dtype.name, np.zeros(2, np.long).dtype.name": (
        "bool", "int64", "int64",
    ),
    "np.array([1.7]).astype(np.int).tolist()": [1],
    "np.dtype(np.float_).name, np.dtype(np.complex_).name, np.dtype(np.int0).name": ("float64", "complex128", "int64"),
    "np.Inf == np.inf == -np.NINF, np.NaN != np.NaN, str(np.NZERO)": (True, True, "-0.0"),
    "np.math.factorial(5), np.sys is sys, np.os is os": (120, True, True),
    "np.warnings.filterwarnings('ignore', category=np.VisibleDeprecationWarning)": None,
    "issubclass(np.AxisError, IndexError), np.ComplexWarning.__name__": (True, "ComplexWarning"),
    "int(np.product([2, 3])), np.cumproduct([2, 3]).tolist()": (6, [2, 6]),
    "bool(np.sometrue([0, 1])), bool(np.alltrue([0, 1])), float(np.round_(1.26, 1))": (True, False, 1.3),
    "np.in1d([[1, 2], [3, 4]], [2, 3]).tolist()": [False, True, True, False],
    "np.in1d(2, [1, 2], invert=True).tolist()": [False],
    "float(np.trapz([1, 2, 3], dx=2))": 8.0,
    "np.row_stack(([1, 2], [3, 4])).shape, np.mat('1 2; 3 4').shape": ((2, 2), (2, 2)),
    "np.asscalar(np.array([24.5])), np.alen(np.zeros((7, 4))), np.alen(3), np.alen('ab')": (24.5, 7, 1, 2),
    "np.asfarray([2, 3]).dtype.name, np.asfarray([2, 3], 'float32').dtype.name, np.asfarray([2], np.int8).dtype.name": (
        "float64", "float32", "float64",
    ),
    "np.msort([[3, 1], [2, 4]]).tolist()": [[2, 1], [3, 4]],
    "np.sctypes['float'][:3] == [np.float16, np.float32, np.float64], np.sctypes['others'][0] is bool": (True, True),
    "[np.dtype(np.typeDict[name]).name for name in ('float64', 'int8', 'f')]": ["float64", "int8", "float32"],
    "[np.obj2sctype(one) for one in ('f4', float, np.zeros(2, int), 'none', 7)] == [np.float32, np.float64, np.int64, "
    "None, None]": True,
    "isinstance([], collections.Iterable), collections.Mapping is collections.abc.Mapping": (True, True),
    "tuple(inspect.getargspec(lambda model, dataset, *more, k=1: 0)[:2])": ValueError,
    "tuple(inspect.getargspec(old))": (["a", "b"], "c", "d", (1,)),
    "inspect.getargspec(old).args": ["a", "b"],
    "0 <= time.clock() < 1000": True,
    "[fractions.gcd(*pair) for pair in ((12, 18), (-4, 6), (4, -6), (-4, 0), (0, 0))]": [6, 2, -2, -4, 0],
}  # fmt: skip

PROGRAM = """
import collections, fractions, inspect, os, sys, time
import numpy as np
from harness.worker.legacy.names import restore_names

def old(a, b=1, *c, **d): pass
before = dict(vars(np))
restore_names()
restore_names()
found = []
for expression in {expressions!r}:
    try:
        found.append(eval(expression))
    except ValueError as error:
        found.append(type(error))
assert all(vars(np)[name] is value for name, value in before.items()), 'nothing of today is replaced'
assert found == {expected}, [pair for pair in zip(found, {expected}) if pair[0] != pair[1]]
"""


def test_every_name_means_what_it_meant() -> None:
    expected = repr(list(THEN.values())).replace("<class 'ValueError'>", "ValueError")
    program = PROGRAM.format(expressions=list(THEN), expected=expected)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("module", "runtime", "given"),
    [
        ("complexity", "keras2", 1), ("complexity", "tensorflow", 0), ("complexity", "torch", 0),
        ("baseline_0", "keras2", 0), ("baseline_0", "tensorflow", 0),
    ],
)  # fmt: skip
def test_only_a_submission_with_keras_2_is_given_any(
    module: str, runtime: str, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(legacy, "restore", lambda: calls.append(module))
    monkeypatch.setattr(legacy, "refuse_what_is_ignored", lambda: None)  # it stays for the lifetime of the process
    RUNTIMES[runtime].admit(module)
    assert len(calls) == given
