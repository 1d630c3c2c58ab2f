"""A call on its way to an executor, perhaps on another machine, and the finished call on its way back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from harness.outcome import CallResult
from harness.sandbox import Limits


@dataclass(frozen=True, slots=True)
class Allowance:
    """The seconds that a call may take, by itself or together with other calls."""

    budget: int | None  #: number of the budget whose calls share the seconds; None if they are for this call alone
    total_s: float
    spent_s: float  #: seconds of the budget used by calls outside the executor
    meaning: str  #: name of the limit in messages, e.g. "the time limit of 300 s"


@dataclass(frozen=True, slots=True)
class Order:
    """A call as an executor receives it, perhaps on another machine.

    An order holds no path, no reference data and no name of a submission, task or model. `Inputs` supplies the files.
    """

    number: int  #: unique in the process that plans
    key: str  #: cache key of the call
    submission: str  #: digest of the submission's files
    is_baseline: bool
    model: str  #: digest of the model
    data: str  #: digest of the training data
    runtime: str
    seed: int
    repeat: int  #: 0 for the call whose value is scored, 1 and more for repetitions
    limits: Limits
    allowance: Allowance

    @property
    def sandbox(self) -> tuple[str, str, str, int] | None:
        """A key for sharing sandboxes: calls with equal keys may share a sandbox. None for a call that must be alone.

        The harness' own baselines on the same model share a sandbox, and with it intermediate results. A repetition
        never shares results with the call that it repeats, because both would use the same random draws. A
        participant's submission always has a sandbox of its own.
        """
        if not self.is_baseline:
            return None
        return self.model, self.data, self.runtime, self.repeat


#: Type of a call's identity: the number of its order in an executor, a `PlannedCall` in the planning process.
Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class FinishedCall(Generic[Named]):
    """A call that has ended, with its result, and the machine and the sandbox that made it."""

    call: Named
    result: CallResult
    started_at: datetime
    machine: dict[str, str]  #: description of the machine, for the record
    sandbox: str  #: name of the sandbox for the record


class Inputs(Protocol):
    """The files of submissions, models and data, found by their digests. Several threads call the methods."""

    def files(self, submission: str) -> Mapping[str, bytes]:
        """Return relative path -> content of each file of a submission."""

    def write_model(self, digest: str, directory: Path) -> None:
        """Write a model in the form that a worker reads: architecture.json, weights.npz, initial_weights.npz."""

    def write_data(self, digest: str, directory: Path) -> None:
        """Write training data in the form that a worker reads: inputs.npy and labels.npy."""
