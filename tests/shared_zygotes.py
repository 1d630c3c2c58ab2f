"""Zygotes (processes that fork workers) that all commands of a test process share, so that imports happen once."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.sandbox.kinds import fast
from harness.sandbox.zygote import Zygotes


class SharedZygotes(Zygotes):
    """Zygotes that keep running when a command ends."""

    def close(self) -> None:
        """Do nothing: other commands will use the zygotes."""

    def end(self) -> None:
        super().close()

    @contextmanager
    def used(self) -> Iterator[None]:
        """In the context, let sandboxes of the kind `fast` use these zygotes."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fast, "Zygotes", lambda: self)
            yield
