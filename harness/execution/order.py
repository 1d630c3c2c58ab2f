"""The orders of an executor and the finished calls that it returns: data alone, which may leave this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from harness.outcome import CallResult
from harness.sandbox import Limits


@dataclass(frozen=True, slots=True)
class Allowance:
    """The seconds that a call may take, alone or together with others."""

    budget: int | None  #: calls with the same number share the seconds; None: the call does not share them
    total_s: float
    spent_s: float  #: seconds that calls outside this executor have used
    meaning: str  #: for readers, e.g. "the time limit of 300 s"


@dataclass(frozen=True, slots=True)
class Order:
    """A call as data for another machine, which learns only the inputs of the call.

    It holds no path, no reference data and no name of a submission, a task or a model; bytes come from `Inputs`.
    """

    number: int  #: different for every order of a process
    key: str  #: cache key of the call; its repetition has the same key only with the same seed
    submission: str  #: digest of the called files
    is_baseline: bool
    model: str  #: digest
    data: str  #: digest
    runtime: str
    seed: int
    repeat: int  #: 0 for the call that counts, 1 and more for its repetitions
    limits: Limits
    allowance: Allowance

    @property
    def sandbox(self) -> tuple[str, str, str, int] | None:
        """The key of a shared sandbox, equal for calls that share it; None if the call must be alone.

        Calls of the harness' own baselines on a model share a sandbox, and then share work. A participant's submission
        always has a sandbox to itself. Repetitions share a sandbox only with repetitions of the same number: results
        that baselines share must not carry random draws from a call to its repetition.
        """
        if not self.is_baseline:
            return None
        return self.model, self.data, self.runtime, self.repeat


#: Identifies a finished call: an executor knows the number of its order, the planning process its `PlannedCall`.
Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class FinishedCall(Generic[Named]):
    """A call that has ended, with the machine and the sandbox in which it was made."""

    call: Named
    result: CallResult
    started_at: datetime
    machine: dict[str, str]  #: description of the machine for the record
    sandbox: str  #: name of the sandbox for the record


class Inputs(Protocol):
    """The bytes that orders name by digests. Its methods are called by several threads."""

    def files(self, submission: str) -> Mapping[str, bytes]:
        """Return the files of a submission, by relative paths."""

    def write_model(self, digest: str, directory: Path) -> None:
        """Write a model as a worker reads it: architecture.json, weights.npz, initial_weights.npz."""

    def write_data(self, digest: str, directory: Path) -> None:
        """Write training data as a worker reads them: inputs.npy and labels.npy."""
