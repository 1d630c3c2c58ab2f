"""Fails a test run if the library has a measure whose value no test of measures compares.

In tests of families, a measure returns a float that remembers the measure; results of arithmetic with it remember it,
too. If a test compares such a float, directly or with `pytest.approx`, the measure's value counts as tested.
"""

from pathlib import Path

import pytest

import baselines

FAMILIES = Path(__file__).parent / "baselines"

#: Files whose tests treat all measures alike; their comparisons do not count.
GENERAL = {"test_every_kind.py", "test_every_measure.py", "test_shared_work.py"}

#: Suffixes of measures with other spectral norms of convolutions: test_spectra.py compares the norms, and it is
#: enough if a test compares the measure without the suffix.
VARIANTS = ("_fft", "_op")

#: The file of the test that runs in this process, and the measures whose values were compared here.
running: Path | None = None
compared: set[str] = set()


class Value(float):
    """A number that was computed from values of measures, and remembers these measures."""

    measures: frozenset[str]


def value_of(number, *measures):
    found = Value(number)
    found.measures = frozenset().union(*measures)
    return found


def _propagating(name):
    def operate(self, *others):
        found = getattr(float, name)(self, *others)
        if found is NotImplemented:
            return found
        return value_of(found, *(one.measures for one in (self, *others) if isinstance(one, Value)))

    return operate


def _comparing(name):
    def compare(self, other):
        compared.update(self.measures)
        if isinstance(other, Value):
            compared.update(other.measures)
        return getattr(float, name)(self, other)

    return compare


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "neg", "abs"):
    setattr(Value, f"__{_name}__", _propagating(f"__{_name}__"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Value, f"__{_name}__", _comparing(f"__{_name}__"))
Value.__hash__ = float.__hash__


def watch() -> None:
    for measure in baselines.MEASURES.values():
        object.__setattr__(measure, "function", _watched(measure.name, measure.function))


def _watched(name, function):
    def complexity(model, dataset, **parameters):
        found = function(model, dataset, **parameters)
        is_of_family = running is not None and running.parent == FAMILIES and running.name not in GENERAL
        return value_of(found, {name}) if is_of_family else found

    complexity.__doc__, complexity.__module__ = function.__doc__, function.__module__
    complexity.__signature__ = function.__signature__
    return complexity


class Watch:
    """A pytest plugin that checks the run at its end; workers of xdist report to the main process."""

    def __init__(self):
        self.files: set[Path] = set()

    def pytest_runtest_setup(self, item):
        global running
        running = item.path

    def pytest_runtest_logreport(self, report):
        self.files.add(Path(report.nodeid.partition("::")[0]))

    @pytest.hookimpl(optionalhook=True)  # of xdist
    def pytest_testnodedown(self, node):
        compared.update(getattr(node, "workeroutput", {}).get("compared", ()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if hasattr(session.config, "workerinput"):
            session.config.workeroutput["compared"] = sorted(compared)
        elif exitstatus == 0 and self._is_whole(session.config):
            self.missing = [name for name in baselines.MEASURES if _plain(name) not in compared]
            if self.missing:
                session.exitstatus = 1

    def _is_whole(self, config):
        """Return whether the run included all tests of families that belong to `make test`."""
        names = {file.name for file in self.files if file.parent.name == FAMILIES.name}
        parts = any("::" in argument for argument in config.args) or config.option.keyword
        return not parts and names >= {file.name for file in FAMILIES.glob("test_*.py") if not _is_of_rest(file)}

    def pytest_unconfigure(self, config):  # below pytest's last line, which says "passed"
        if getattr(self, "missing", None):
            names = ", ".join(self.missing)
            config.get_terminal_writer().line(f"FAILED: no test of tests/baselines compares the value of {names}")


def _is_of_rest(file):
    return "\npytestmark = pytest.mark.rest\n" in file.read_text()


def _plain(name):
    return next((name.removesuffix(suffix) for suffix in VARIANTS if name.endswith(suffix)), name)
