"""The tests that every kind of sandbox must pass."""

import threading

import psutil

from harness.configuration import WAYS
from harness.outcome import StoppedError
from harness.sandbox import Call, Clock, Kind, Limits, Staging
from harness.worker.runtimes import DEFAULT


class KindContract:
    """Tests of a kind of sandbox, for pytest. A subclass defines the method `kind`, which must work on the machine."""

    runtime = DEFAULT  #: runtime in which the calls are made

    def kind(self) -> Kind:
        """Return the kind of sandbox to test; the caller enters its context."""
        raise NotImplementedError

    def test_limits_hold_and_nothing_else_can_be_seen(self) -> None:
        """`pgdl doctor`'s submissions end as expected; without isolation, those that need a sandbox may do anything."""
        with Staging() as staging, self.kind() as kind:
            assert kind.problem() is None
            kind.prepare(kind.trials(staging, [self.runtime]))
            results = dict(kind.run_traps(staging, 2, self.runtime))
        expected = [trap for trap in results if kind.is_sandbox or not trap.needs_sandbox]
        assert [trap.name for trap in expected if not trap.caught(results[trap])] == []

    def test_a_call_that_is_stopped_leaves_no_process(self) -> None:
        """`discard`, which is also called after Ctrl-C, ends a call and all its processes."""
        stop = threading.Event()
        with Staging() as staging, self.kind() as kind:
            (job,) = kind.trials(staging, [self.runtime])
            kind.prepare([job])
            call = Call.prepare(kind.start, job, Limits(), 0, stopping=stop.is_set)
            assert isinstance(call, Call)
            processes = [psutil.Process(pid) for pid in call.process_ids()]
            assert any(process.is_running() for process in processes)
            stop.set()
            try:
                call.run(0, Clock(60.0, "the time limit"))
            except StoppedError:
                call.discard()
            assert psutil.wait_procs(processes, timeout=60)[1] == []

    def test_records_tell_its_isolation(self) -> None:
        """Records have the isolation; if several kinds share it, ISOLATION/WAY, such as `bubblewrap/fast`."""
        kind = self.kind()
        isolation, _, way = kind.name_in_records.rpartition("/")
        assert (isolation if way in WAYS else kind.name_in_records) == kind.isolation

    def test_a_kind_says_what_it_shows(self) -> None:
        """The directories that all workers can read contain no copies of inputs."""
        with Staging() as staging:
            private = staging.stage("private", lambda _: None)
            assert not any(private.is_relative_to(place) for place in self.kind().shown())
