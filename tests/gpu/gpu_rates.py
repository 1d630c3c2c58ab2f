"""The step that measures speed."""

import time

from gpu_calls import describe, make_call, make_job, runtimes, stage
from gpu_report import table
from gpu_steps import step

from harness.errors import UserError
from harness.gpus import find_gpus
from harness.outcome import Outcome
from harness.sandbox import KINDS

#: Seconds of calls for each kind of sandbox and runtime, and the most calls.
SECONDS, MOST = 5.0, 12


@step("calls per second", 150)
def rates() -> str:
    """Make calls one after the other, with and without a sandbox."""
    gpu = next(iter(find_gpus()), None)
    rows = []
    for runtime in runtimes():
        for name in ("fast", "fresh", "landlock", "none"):
            kind = KINDS[name]()
            if kind.problem() is not None:
                continue
            try:
                with stage(kind, [runtime], gpu) as staging:
                    job = make_job(staging, "forward", runtime, gpu)
                    begin, calls = time.monotonic(), 0
                    while calls < MOST and time.monotonic() - begin < SECONDS:
                        result = make_call(kind, job)
                        if result.outcome is not Outcome.OK:
                            raise RuntimeError(f"{name}, {runtime}: {describe(result)}")
                        calls += 1
                    rate = calls / (time.monotonic() - begin)
            except UserError:  # the step about kinds of sandbox says why
                continue
            device = result.environment.get("device")
            rows.append((runtime, name, f"{rate:.2f}", calls, device))
    print(table(("runtime", "kind", "calls per second", "calls", "device"), rows))
    return ", ".join(f"{runtime} {name} {rate}" for runtime, name, rate, _, _ in rows)
