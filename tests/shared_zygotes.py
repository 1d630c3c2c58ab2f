"""Zygotes that outlive the commands which tests run in their own process: most take less time than the imports."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.sandbox.kinds import fast
from harness.sandbox.zygote import Zygotes


class SharedZygotes(Zygotes):
    """Zygotes that the end of a command leaves to the next one."""

    def close(self) -> None:
        """Keep them."""

    def end(self) -> None:
        """End all zygotes."""
        super().close()

    @contextmanager
    def used(self) -> Iterator[None]:
        """Let fast starts fork from them."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fast, "Zygotes", lambda: self)
            yield
