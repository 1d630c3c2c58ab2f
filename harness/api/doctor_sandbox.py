"""The part of `pgdl doctor` that tests sandboxes, with small submissions that try to exceed each limit."""

import os
import shutil
from collections.abc import Iterator

from harness.api.doctor import BAD, GOOD, WARNING, Finding
from harness.errors import UserError
from harness.execution.machine import plan_lanes
from harness.extras import install_for_gpu
from harness.gpus import find_gpus
from harness.sandbox import KINDS, Job, Kind, Limits, SandboxChoice, Staging, not_linux
from harness.sandbox.bubblewrap import becomes_others
from harness.sandbox.cgroup import cgroup_problem
from harness.worker.runtimes import RUNTIMES


def automatic_findings() -> Iterator[Finding]:
    """Yield findings on the kinds of sandbox that `auto` can choose. Run test submissions in the best of these."""
    if (elsewhere := not_linux()) is not None:
        yield Finding(BAD, "sandbox", "not on this system", str(elsewhere))
        warning = "tasks and submissions are read without the limit that Linux sets: only open those that you trust"
        yield Finding(WARNING, "memory", "not limited here", warning)
        return
    warnings: list[str] = []
    best, second = SandboxChoice.candidates(warnings.append)
    problem, weaker = best.problem(), second.problem()
    who = "root, which starts every call as another user" if becomes_others() else "an ordinary user"
    if os.geteuid() == 0 and not becomes_others():
        who = "root without the capabilities to start calls as other users"
    if problem is None:
        found = f"bubblewrap at {shutil.which('bwrap')}, as {who}"
        yield Finding(GOOD, "sandbox", found, "tried now with small submissions:")
        yield _memory_limit(cgroup_problem())
        yield from _self_test(best, warnings)
        item = "sandbox by Landlock"
        if weaker is None:
            yield Finding(GOOD, item, "would work, too", "--sandbox landlock; auto does not need it here")
        else:
            yield Finding(WARNING, item, "would not work; not needed here", str(weaker))
    elif weaker is None:
        yield Finding(WARNING, "sandbox by bubblewrap", "does not work", str(problem))
        yield Finding(WARNING, "sandbox", f"Landlock, as {who}; it promises less:")
        yield from (Finding(WARNING, "  not promised", guarantee) for guarantee in second.missing)
        yield from _self_test(second, warnings)
    else:
        yield Finding(BAD, "sandbox", "does not work", str(problem))
        yield Finding(BAD, "sandbox by Landlock", "does not work, either", str(weaker))


def other_findings() -> Iterator[Finding]:
    """Yield findings on the kinds of sandbox that `auto` never chooses."""
    for name, kind in KINDS.items():
        if kind.is_sandbox and name not in SandboxChoice.TRIED:
            problem = kind().problem()
            if problem is None:
                yield Finding(GOOD, f"sandbox {name}", f"would work: {kind.summary} for each call", f"--sandbox {name}")
            else:
                found = f"does not work; only --sandbox {name} needs it"
                yield Finding(WARNING, f"sandbox {name}", found, str(problem))


def _memory_limit(problem: str | None) -> Finding:
    if problem is None:
        return Finding(GOOD, "  memory limit", "enforced by the kernel: every call has a control group")
    delegated = f"systemd-run {'' if os.geteuid() == 0 else '--user '}--scope -p Delegate=yes pgdl ..."
    remedy = f"only a control group counts that; with systemd and cgroup v2: {delegated} (found: {problem})"
    enforced = "enforced by the memory watch, twenty times a second; the kernel's own memory for a call is not counted"
    return Finding(WARNING, "  memory limit", enforced, remedy)


def _self_test(kind: Kind, warnings: list[str]) -> Iterator[Finding]:
    gpu = next(iter(find_gpus()), None)
    runtimes = [name for name, runtime in RUNTIMES.items() if not runtime.missing()]
    if not runtimes:
        yield Finding(WARNING, "  self-test", "not possible without a runtime")
        return
    with Staging() as staging, kind:
        trials = kind.trials(staging, runtimes, gpu=gpu)
        try:
            kind.prepare(trials)
        except UserError as error:
            yield Finding(BAD, "  self-test", "does not start", str(error))
            return
        if warnings:
            yield Finding(WARNING, "  fast starts", "do not work", warnings[0])
        else:
            yield Finding(GOOD, "  fast starts", "a call starts in a fraction of a second")
        if gpu is not None:
            yield from (_device(kind, trial) for trial in trials)
        workers = plan_lanes(None, Limits.default_memory_bytes(0)).workers
        for trap, result in kind.run_traps(staging, workers, runtimes[0]):
            if trap.caught(result):
                yield Finding(GOOD, "  self-test", trap.name)
            else:
                found = f"expected {trap.outcome}, found {result.outcome}: {result.message or result.value}"
                yield Finding(BAD, "  self-test", trap.name, f"{found}; do not run other people's code here")


def _device(kind: Kind, trial: Job) -> Finding:
    runtime, result = trial.runtime, kind.run_trial(trial)
    item, device = f"  {runtime} and the GPU", result.environment.get("device")
    if device == "cpu":
        remedy = f"install a build with CUDA: {install_for_gpu(RUNTIMES[runtime].gpu_install)}"
        return Finding(WARNING, item, "runs on the processor", remedy)
    if device is None:
        return Finding(WARNING, item, "no answer", f"{result.outcome}: {result.message}")
    return Finding(GOOD, item, f"runs on it: {device}")
