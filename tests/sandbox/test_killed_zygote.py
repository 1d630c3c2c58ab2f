"""Tests of a zygote that is killed, as by a kernel without free memory."""

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from sandbox.usable_kinds import usable

from harness.outcome import CallResult, Outcome
from harness.processes.runtimes import QUICKEST, installed_runtime
from harness.sandbox import KINDS, Call, Clock, Job, Kind, Limits, Staging
from harness.sandbox.selftest import CONTROL, Trap, run_trial, trial_job
from harness.sandbox.zygote import Zygote

pytestmark = pytest.mark.rest

RUNTIME = installed_runtime(QUICKEST).name


def nap(seconds: int) -> Trap:
    """Return a measure that prints "called", sleeps and returns."""
    body = f"import time; print('called', flush=True); time.sleep({seconds}); return 16.0"
    return Trap("naps", body, Outcome.OK, value=16.0)


#: A call that goes on without the zygote, and one that does not.
NAP, LASTING = nap(3), nap(600)


class Stage:
    """A prepared kind of sandbox, and jobs for it."""

    def __init__(self, kind: Kind, staging: Staging) -> None:
        self.kind, self._others = kind, set(psutil.Process().children())  # other tests may share a zygote
        self.control = trial_job(staging, CONTROL, runtime=RUNTIME)
        self._staging = staging
        kind.prepare([self.control])

    def prepared(self, job: Job) -> Call:
        """Return a call whose worker is ready."""
        call = Call.prepare(self.kind.start, job, Limits(), 0, stopping=lambda: False)
        assert isinstance(call, Call), call.message
        return call

    def kill(self) -> None:
        own = set(psutil.Process().children()) - self._others
        (zygote,) = (child for child in own if _is_zygote(child))
        zygote.send_signal(signal.SIGKILL)

    def control_result(self) -> CallResult:
        return run_trial(self.kind.start, self.control, 0, 60.0)

    def nap_result(self, trap: Trap) -> CallResult:
        """Make a call, kill the zygote during the call, and return the call's result."""
        with ThreadPoolExecutor(1) as threads:
            call = self.prepared(trial_job(self._staging, trap, runtime=RUNTIME))
            result = threads.submit(call.run, 0, Clock(1000.0, "the time limit"))
            while b"called" not in call._worker.output and not result.done():
                time.sleep(0.01)
            self.kill()
            return result.result()


def _is_zygote(process: psutil.Process) -> bool:
    with suppress(psutil.Error):  # it has ended
        return any("harness.worker.zygote" in word for word in process.cmdline())
    return False


@contextmanager
def stage(name: str) -> Iterator[Stage]:
    with ExitStack() as held:
        cache = held.enter_context(tempfile.TemporaryDirectory())
        Path(cache).chmod(0o711)  # root's workers are other users
        held.enter_context(pytest.MonkeyPatch.context()).setenv("PGDL_CACHE", cache)
        yield Stage(held.enter_context(usable(KINDS[name]())), held.enter_context(Staging()))


def test_a_fast_start_says_so_forks_again_and_then_starts_fresh() -> None:
    killed = "the process from which workers are forked was ended by signal 9"
    with stage("fast") as prepared:
        under_way = prepared.nap_result(LASTING)
        assert (under_way.outcome, under_way.message, under_way.interrupted) == (Outcome.INFRA_ERROR, killed, True)
        assert CONTROL.caught(prepared.control_result())
        assert prepared.kind.name_in_records == "bubblewrap/fast"

        waiting = prepared.prepared(prepared.control)
        prepared.kill()
        before = waiting.run(0, Clock(60.0, "the time limit"))
        assert (before.outcome, before.interrupted) == (Outcome.INFRA_ERROR, True)
        assert before.message == f"{killed} before the measure was called"
        assert CONTROL.caught(prepared.control_result())
        assert prepared.kind.name_in_records == "bubblewrap/fresh"


@pytest.mark.full
def test_the_first_process_of_a_container_inherits_the_worker_and_lets_it_end() -> None:
    """Here, the harness is the first process: if it did not reap the worker, the worker's sandbox would not end."""
    contained = ["unshare", "--pid", "--fork", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*contained, "true"], capture_output=True).returncode:
        pytest.skip("no PID namespace can be made by unshare")
    test = f"{__file__}::{test_a_fast_start_says_so_forks_again_and_then_starts_fresh.__name__}"
    done = subprocess.run([*contained, sys.executable, "-m", "pytest", "-q", test], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_under_landlock_a_call_goes_on_and_a_third_zygote_is_not_started() -> None:
    with stage("landlock") as prepared:
        assert NAP.caught(prepared.nap_result(NAP))
        assert CONTROL.caught(prepared.control_result())
        prepared.kill()
        refused = prepared.control_result()
        assert refused.outcome is Outcome.INFRA_ERROR
        assert "the process from which workers are forked was ended twice" in refused.message


def test_a_zygote_that_is_killed_during_its_imports_is_no_matter_of_what_it_printed() -> None:
    with stage("fast") as prepared:
        zygote = Zygote(prepared.control)
        zygote._process.send_signal(signal.SIGKILL)
        with pytest.raises(Exception, match=r"did not start: the process .* was ended by signal 9$"):
            zygote.wait_until_ready()
        zygote.close()
