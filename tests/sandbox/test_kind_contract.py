"""The kinds of sandbox that work on this machine pass the contract."""

import pytest

from harness.sandbox import KINDS, Kind
from harness.testing import KindContract


class OnThisMachine(KindContract):
    """The kinds that a machine needs nothing for but its kernel."""

    name: str

    def kind(self) -> Kind:
        kind = KINDS[self.name]()
        if (problem := kind.problem()) is not None:
            pytest.skip(str(problem))
        return kind


class TestFast(OnThisMachine):
    name = "fast"


class TestLandlock(OnThisMachine):
    name = "landlock"


@pytest.mark.full
class TestFresh(OnThisMachine):
    name = "fresh"


@pytest.mark.full
class TestPlain(OnThisMachine):
    name = "none"


@pytest.mark.full
class TestDocker(OnThisMachine):
    name = "docker"
