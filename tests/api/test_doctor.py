"""Tests of `pgdl.doctor`: one finding for each problem of the machine."""

from collections.abc import Iterator

import pytest

from harness.api import doctor_sandbox
from harness.api.doctor import BAD, GOOD, Finding
from harness.extras import OF_ANY_FRAMEWORK, install
from harness.sandbox import Staging
from harness.worker.runtimes import RUNTIMES
from pgdl import doctor


@pytest.fixture(autouse=True)
def quick_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the tests of the sandbox in `pgdl doctor`: stage files, but start no process."""

    def trial() -> Iterator[Finding]:
        with Staging():
            yield Finding(GOOD, "sandbox", "works")

    monkeypatch.setattr(doctor_sandbox, "automatic_findings", trial)
    monkeypatch.setattr(doctor_sandbox, "other_findings", lambda: iter(()))


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDL_CACHE", "/proc/none")
    found = list(doctor())
    (bad,) = (finding for finding in found if finding.state == BAD)
    assert (bad.item, bad.found) == ("cache", "does not work")
    assert bad.consequence.startswith("/proc/none: cannot be created: ")
    assert Finding(GOOD, "sandbox", "works") in found


def test_a_machine_without_a_framework(monkeypatch: pytest.MonkeyPatch) -> None:
    for runtime in RUNTIMES.values():
        monkeypatch.setattr(type(runtime), "missing", lambda self: list(self.distributions))
    remedies = [finding.consequence for finding in doctor() if install("tensorflow") in finding.consequence]
    assert remedies == [f"one is needed: {install('tensorflow')}{OF_ANY_FRAMEWORK}"]
