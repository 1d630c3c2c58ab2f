"""The orders that an executor gets and the finished calls that it returns. Both may leave this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from harness.outcome import CallResult
from harness.sandbox import Limits


@dataclass(frozen=True, slots=True)
class Allowance:
    """The seconds that a call may take, alone or together with other calls of a budget."""

    budget: int | None  #: number of the budget whose calls share the seconds; None: the call does not share them
    total_s: float
    spent_s: float  #: seconds of the budget that calls outside the executor have used
    meaning: str  #: name of the limit in messages, e.g. "the time limit of 300 s"


@dataclass(frozen=True, slots=True)
class Order:
    """A call in the form that an executor gets, perhaps on another machine.

    An order holds no path, no reference data and no name of a submission, a task or a model. `Inputs` supplies files.
    """

    number: int  #: unique in the process that plans
    key: str  #: cache key of the call
    submission: str  #: digest of the submission's files
    is_baseline: bool
    model: str  #: digest of the model
    data: str  #: digest of the training data
    runtime: str
    seed: int
    repeat: int  #: 0 for the call that counts, 1 and more for its repetitions
    limits: Limits
    allowance: Allowance

    @property
    def sandbox(self) -> tuple[str, str, str, int] | None:
        """The key of a shared sandbox, equal for calls that may share it; None for a call that must be alone.

        The harness' own baselines on the same model share a sandbox, and with it intermediate results. Repetitions
        share it only with repetitions of the same number: shared results must not carry random draws from a call to
        its repetition. A participant's submission always has a sandbox of its own.
        """
        if not self.is_baseline:
            return None
        return self.model, self.data, self.runtime, self.repeat


#: The identity of a finished call: the number of its order for an executor, a `PlannedCall` for the process that plans.
Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class FinishedCall(Generic[Named]):
    """A call that has ended, with its result, and the machine and the sandbox that made it."""

    call: Named
    result: CallResult
    started_at: datetime
    machine: dict[str, str]  #: description of the machine for the record
    sandbox: str  #: name of the sandbox for the record


class Inputs(Protocol):
    """The files of submissions, models and data, by the digests in orders. Several threads call the methods."""

    def files(self, submission: str) -> Mapping[str, bytes]:
        """Return relative path -> content of the files of a submission."""

    def write_model(self, digest: str, directory: Path) -> None:
        """Write a model as a worker reads it: architecture.json, weights.npz, initial_weights.npz."""

    def write_data(self, digest: str, directory: Path) -> None:
        """Write training data as a worker reads them: inputs.npy and labels.npy."""
