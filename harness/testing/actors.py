"""A kind of sandbox for tests. Its workers are threads that do what the text of a submission says."""

import hashlib
import itertools
import os
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import UserError
from harness.execution.order import Allowance, Order
from harness.sandbox import KINDS, Job, Kind, Launch, Limits
from harness.sandbox.processes import Tree
from harness.sandbox.running_sandbox import RunningSandbox, StartError
from harness.worker.channel import Channel

LIMITS = Limits(startup_s=60.0, output_bytes=2**20)

_numbers = itertools.count()


class Actors(Kind):
    """A kind of sandbox whose workers are threads. `most_at_once` is the largest number of threads at once."""

    name = "actors"
    summary = "a thread that plays a part"
    is_sandbox = False
    isolation = "bubblewrap"

    def __init__(self) -> None:
        self.expected: list[str] = []  #: runtimes for which `expect` was called
        self.prepared: list[str] = []  #: runtimes for which `prepare` was called
        self.started: list[Actor] = []
        self.closed = False
        self._changing = threading.Lock()
        self._playing = self.most_at_once = 0

    def problem(self) -> None:
        """Return None: threads work everywhere."""

    def expect(self, trials: Sequence[Job]) -> None:
        """Record the runtimes in `expected`."""
        self.expected += [job.runtime for job in trials]

    def prepare(self, trials: Sequence[Job]) -> None:
        """Add the runtime of each trial to the list `prepared`."""
        self.prepared += [job.runtime for job in trials]

    def start(self, launch: Launch) -> "Actor":
        """Start a thread as worker. Raise `StartError` if the submission's text is `does not start`."""
        if "does not start" in parts(launch.job).values():
            raise StartError("no stage")
        actor = Actor(self, launch)
        self.started.append(actor)
        return actor

    def versions(self, runtime: str) -> str:
        """Return the name of the runtime as a text, in place of the versions of its libraries."""
        return f"runtime {runtime}"

    def close(self) -> None:
        """Note in `closed` that the context was left."""
        self.closed = True

    def playing(self, change: int) -> None:
        """Add `change` (1 or -1) to the number of threads that work now."""
        with self._changing:
            self._playing += change
            self.most_at_once = max(self.most_at_once, self._playing)


class Actor(RunningSandbox):
    """A worker that is a thread. The submission's text, such as `returns 1`, says which messages it sends."""

    def __init__(self, kind: Actors, launch: Launch) -> None:
        self.job, self.played = launch.job, list[str]()
        self.processes = Tree()
        self._kind = kind
        self._status: int | None = None
        self._killed = threading.Event()
        self._control, self._sink = socket.socket(fileno=os.dup(launch.control)), os.dup(launch.output)
        self._thread = threading.Thread(target=self._live)
        self._thread.start()

    def exit_status(self) -> int | None:
        """Return the exit status that a text such as `exits 3` has set, otherwise None."""
        return self._status

    def kill(self) -> None:
        """End the thread."""
        self._killed.set()
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def is_gone(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()

    def _live(self) -> None:
        with suppress(OSError, EOFError, SystemExit):
            self._talk(Channel(self._control.fileno(), self._control.fileno()))
        self._control.close()
        os.close(self._sink)

    def _talk(self, channel: Channel) -> None:
        channel.send(event="ready", environment={"stage": "here"})
        while True:
            order = channel.receive()
            part = parts(self.job)[order["module"]]
            if part == "fails to load":
                channel.send(event="failed", message="no such model")
                channel.receive()
            channel.send(event="loaded", device="stage", place="/stage")
            channel.receive()
            self.played.append(part)
            self._kind.playing(1)
            verb, _, rest = part.partition(" ")
            try:
                getattr(self, f"_{verb}")(rest, channel)
            finally:
                self._kind.playing(-1)

    def _returns(self, value: str, channel: Channel) -> None:
        time.sleep(0.01)
        channel.send(event="result", status="OK", value=float(value).hex())

    def _raises(self, message: str, channel: Channel) -> None:
        os.write(self._sink, b"Traceback\n")
        channel.send(event="result", status="EXCEPTION", message=message)

    def _claims(self, status: str, channel: Channel) -> None:
        channel.send(event="result", status=status)

    def _says(self, text: str, channel: Channel) -> None:
        self._control.sendall(text.encode() + b"\n")
        self._killed.wait()

    def _prints(self, mebibytes: str, channel: Channel) -> None:
        for _ in range(int(mebibytes)):
            os.write(self._sink, b"x" * 2**20)
        self._killed.wait()

    def _exits(self, status: str, channel: Channel) -> None:
        self._status = int(status)
        raise SystemExit

    def _waits(self, _: str, channel: Channel) -> None:
        self._killed.wait()

    def _counts(self, _: str, channel: Channel) -> None:
        self._returns(str(len(self.played)), channel)

    def _beats(self, file: str, channel: Channel) -> None:
        while not self._killed.wait(0.01):
            with Path(file).open("ab") as pulse:
                pulse.write(b".")


def parts(job: Job) -> dict[str, str]:
    """Return name -> text, for each module in the files of a submission."""
    return {path.stem: path.read_text(encoding="utf-8") for path in Path(job.submission).glob("*.py")}


@dataclass
class Parts:
    """The inputs of test calls: submissions that are texts such as `returns 1`, and empty models and data."""

    missing: str | None = None  #: digest of a model that is to raise an error
    _texts: dict[str, bytes] = field(default_factory=dict)

    def order(
        self, text: str, *, model: str = "model", is_baseline: bool = False, allowance: Allowance | None = None,
        repeat: int = 0,
    ) -> Order:  # fmt: skip
        """Return an order for a call of a submission with this text, by default with a time limit of 60 s."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        self._texts[digest] = text.encode()
        number = next(_numbers)
        return Order(
            number=number, key=f"{number:064x}", submission=digest, is_baseline=is_baseline, model=model,
            data="data", runtime="tensorflow", seed=number, repeat=repeat, limits=LIMITS,
            allowance=allowance or Allowance(None, 60.0, 0.0, "the time limit of 60 s"),
        )  # fmt: skip

    def files(self, submission: str) -> Mapping[str, bytes]:
        """Return file name -> content of the submission with this digest, which consists of one file."""
        return {"complexity.py": self._texts[submission]}

    def write_model(self, digest: str, directory: Path) -> None:
        """Write nothing. For the model `missing`, raise `UserError` as for a model whose files have changed."""
        if digest == self.missing:
            raise UserError("changed since the task was read", remedy="run the same command again")

    def write_data(self, digest: str, directory: Path) -> None:
        """Write nothing."""


KINDS[Actors.name] = Actors
