"""Tests that the kinds of sandbox that work on this machine pass the contract."""

import pytest
from sandbox.usable_kinds import usable

from harness.processes.runtimes import QUICKEST, installed_runtime
from harness.sandbox import KINDS, Kind
from harness.testing import KindContract


class OnThisMachine(KindContract):
    """The contract for kinds of sandbox that need only the machine's kernel."""

    name: str

    def kind(self) -> Kind:
        return usable(KINDS[self.name]())


class TestFast(OnThisMachine):
    name = "fast"
    runtime = installed_runtime(QUICKEST).name


class TestLandlock(OnThisMachine):
    name = "landlock"
    runtime = installed_runtime(QUICKEST).name


@pytest.mark.full
class TestFresh(OnThisMachine):
    name = "fresh"


@pytest.mark.full
class TestPlain(OnThisMachine):
    name = "none"


@pytest.mark.full
class TestDocker(OnThisMachine):
    name = "docker"
