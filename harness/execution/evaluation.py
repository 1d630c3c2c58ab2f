"""Converts a finished call to its record, and finds calls that did not use their GPU."""

from datetime import UTC, datetime

from harness.execution.order import FinishedCall
from harness.execution.plan import PlannedCall
from harness.extras import install_for_gpu
from harness.outcome import WITHHELD
from harness.records import Evaluation
from harness.worker.runtimes import RUNTIMES


def to_evaluation(done: FinishedCall[PlannedCall]) -> Evaluation:
    """Return the record of a call. If the call is `withheld`, the record has no message and no output."""
    planned, result = done.call, done.result
    given = {"names_of": "2020"} if planned.is_of_2020 and result.environment else {}  # from `harness.worker.legacy`
    return Evaluation(
        key=planned.key,
        submission=planned.submission.name,
        submission_digest=planned.submission.digest,
        is_baseline=planned.submission.is_baseline,
        task=planned.task.name,
        model=planned.model.id,
        model_digest=planned.model.digest,
        data_digest=planned.task.data.digest,
        repeat=planned.repeat,
        outcome=str(result.outcome),
        value=result.value,
        message=WITHHELD if planned.withheld else result.message,
        startup_wall_s=result.startup_wall_s,
        load_wall_s=result.load_wall_s,
        load_cpu_s=result.load_cpu_s,
        call_wall_s=result.call_wall_s,
        call_cpu_s=result.call_cpu_s,
        peak_memory_bytes=result.peak_memory_bytes,
        configuration=planned.configuration.id,
        run_seed=planned.configuration.run_seed,
        time_limit_s=planned.configuration.time_limit_s,
        time_budget=planned.configuration.time_budget,
        memory_limit_bytes=planned.configuration.memory_limit_bytes,
        seed=planned.seed,
        runtime=planned.runtime,
        sandbox=done.sandbox,
        versions=planned.configuration.versions,
        harness_version=planned.configuration.harness_version,
        loader=planned.configuration.loader,
        environment=done.machine | result.environment | given,
        output_tail="" if planned.withheld else result.output_tail,
        started_at=done.started_at,
        finished_at=datetime.now(UTC),
    )


def unused_gpu(done: FinishedCall[PlannedCall]) -> str | None:
    """Return a warning with a remedy if a call had a GPU, but its framework used the processor; otherwise None."""
    gpu, device = done.machine.get("gpu"), done.result.environment.get("device")
    if gpu is None or device != "cpu":
        return None
    runtime = RUNTIMES[done.call.runtime]
    return (
        f"runtime {runtime.name}: calls run on the processor, not on the GPU ({gpu}); "
        f"install a build with CUDA: {install_for_gpu(runtime.gpu_install)}; pgdl doctor tries it"
    )
