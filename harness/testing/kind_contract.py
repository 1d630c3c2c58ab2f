"""The contract of kinds of sandbox: tests that every kind must pass."""

import threading

from harness.outcome import Outcome
from harness.sandbox import (
    CONTROL,
    TRAPS,
    Call,
    Clock,
    Kind,
    Limits,
    Staging,
    StoppedError,
    prepare_call,
    run_traps,
    trial_job,
)
from harness.worker.runtimes import DEFAULT

#: The trap for the time limit, the only limit that also holds without a sandbox.
CLOCK = next(trap for trap in TRAPS if trap.outcome is Outcome.TIMEOUT)


class KindContract:
    """The tests of a kind of sandbox for pytest. A subclass defines `kind`, which must work on the machine."""

    runtime = DEFAULT  #: runtime of the calls

    def kind(self) -> Kind:
        """Return the kind of sandbox. Its context is not entered yet."""
        raise NotImplementedError

    def test_limits_hold_and_nothing_else_can_be_seen(self) -> None:
        """The traps of `pgdl doctor` are caught, two at a time. Without a sandbox, only the time limit holds."""
        with Staging() as staging, self.kind() as kind:
            assert kind.problem() is None
            kind.prepare([trial_job(staging, CONTROL, runtime=self.runtime)])
            results = dict(run_traps(kind.start, staging, 2, self.runtime))
        expected = [trap for trap in results if kind.is_sandbox or trap in (CONTROL, CLOCK)]
        assert [trap.name for trap in expected if not trap.caught(results[trap])] == []

    def test_a_call_that_is_stopped_leaves_no_process(self) -> None:
        """A call that Ctrl-C stops leaves no process, whenever Ctrl-C comes."""
        stop = threading.Event()
        with Staging() as staging, self.kind() as kind:
            job = trial_job(staging, CONTROL, runtime=self.runtime)
            kind.prepare([job])
            call = prepare_call(kind.start, job, Limits(), 0, stopping=stop.is_set)
            assert isinstance(call, Call)
            stop.set()
            try:
                call.run(0, Clock(60.0, "the time limit"))
            except StoppedError:
                call.discard()
            assert call.is_over

    def test_a_kind_says_what_it_shows(self) -> None:
        """The shown directories include neither staged nor private directories."""
        with Staging() as staging:
            private = staging.stage("private", lambda _: None)
            assert not any(private.is_relative_to(place) for place in self.kind().shown())
