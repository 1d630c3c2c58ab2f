"""Orders for calls on a stage, and their inputs."""

import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import UserError
from harness.execution.order import Allowance, Order
from harness.sandbox import Limits

LIMITS = Limits(startup_s=60.0, output_bytes=2**20)

_numbers = itertools.count()


@dataclass
class Parts:
    """The parts that are played, by the digests of their texts; models and data are empty."""

    missing: str | None = None  #: digest of a model that cannot be written
    _texts: dict[str, bytes] = field(default_factory=dict)

    def order(
        self, text: str, *, model: str = "model", is_baseline: bool = False, problem: str | None = None,
        allowance: Allowance | None = None, repeat: int = 0,
    ) -> Order:  # fmt: skip
        """Return the order of a call that plays a part; its limit is 60 s unless `allowance` says otherwise."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        self._texts[digest] = text.encode()
        number = next(_numbers)
        return Order(
            number=number, key=f"{number:064x}", submission=digest, is_baseline=is_baseline, problem=problem,
            model=model, data="data", runtime="tensorflow", seed=number, repeat=repeat, limits=LIMITS,
            allowance=allowance or Allowance(None, 60.0, 0.0, "the time limit of 60 s"),
        )  # fmt: skip

    def files(self, submission: str) -> Mapping[str, bytes]:
        """Return the file of a part."""
        return {"complexity.py": self._texts[submission]}

    def write_model(self, digest: str, directory: Path) -> None:
        """Write nothing, or fail like a model that has been changed."""
        if digest == self.missing:
            raise UserError("changed since the task was read", remedy="run the same command again")

    def write_data(self, digest: str, directory: Path) -> None:
        """Write nothing."""
