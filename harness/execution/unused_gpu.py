"""Calls that were given a GPU and did not use it, which a framework without CUDA does silently."""

from harness.execution.dispatch import Done
from harness.extras import install_for_gpu
from harness.worker.runtimes import RUNTIMES


def unused_gpu(done: Done) -> str | None:
    """Return a warning with a remedy if a call was given a GPU but its framework used the processor.

    None also for a call that ended before its model was loaded.
    """
    gpu, device = done.machine.get("gpu"), done.result.environment.get("device")
    if gpu is None or device != "cpu":
        return None
    runtime = RUNTIMES[done.planned.runtime]
    return (
        f"runtime {runtime.name}: calls run on the processor, not on the GPU ({gpu}); "
        f"install a build with CUDA: {install_for_gpu(runtime.gpu_install)}; pgdl doctor tries it"
    )
