"""Steps about memory of the GPU and of the host, and about machines with several GPUs."""

from gpu_calls import (
    best_kind,
    calls_on_gpu,
    describe,
    make_call,
    make_job,
    require_gpu,
    runtimes,
    stage,
    used_gpu_memory,
    wait_for_memory,
)
from gpu_report import block, table
from gpu_steps import Skip, step

from harness.gpus import find_gpus
from harness.outcome import Outcome
from harness.sandbox import KINDS

#: GPU memory that a small call may use, in MiB: the context of CUDA takes some hundred.
SMALL_MIB = 2048

#: Host memory limit of the step about it, and of a small call that must stay below it, in bytes.
HOST_LIMIT = 6 * 2**30

#: Time limit of a call whose kernel does not end, in seconds.
KERNEL_S = 6.0


@step("GPU memory of a small call", 90)
def growth() -> str:
    """Measure how much GPU memory a small call uses: a framework must not claim all of the GPU's memory."""
    require_gpu()
    with calls_on_gpu(*runtimes()) as call:
        rows = [(runtime, call("small_call", runtime)) for runtime in runtimes()]
    print(table(("runtime", "result", "printed"), [(name, describe(one), one.output_tail) for name, one in rows]))
    for name, one in rows:
        if one.outcome is not Outcome.OK or one.value is None or one.value > SMALL_MIB:
            raise RuntimeError(f"{name}: {describe(one)}, at most {SMALL_MIB} MiB expected")
    return ", ".join(f"{name} {one.value:.0f} MiB" for name, one in rows)


@step("host memory limit", 120)
def host_limit() -> str:
    """With a limit below CUDA's address space, a small call must succeed, and a greedy call end with MEMORY."""
    require_gpu()
    rows = []
    with calls_on_gpu(*runtimes()) as call:
        for runtime in runtimes():
            for submission, expected in (("small_call", Outcome.OK), ("host_memory", Outcome.MEMORY)):
                rows.append((runtime, submission, expected, call(submission, runtime, 60.0, HOST_LIMIT)))
    print(table(
        ("runtime", "call", "expected", "result", "peak MiB", "printed"),
        [(a, b, c, describe(one), one.peak_memory_bytes >> 20, one.output_tail) for a, b, c, one in rows],
    ))  # fmt: skip
    if any(one.outcome is not expected for _, _, expected, one in rows):
        raise RuntimeError("another outcome than expected")
    return f"limit {HOST_LIMIT >> 20} MiB: small calls pass, greedy ones end with MEMORY"


@step("one GPU of several", 60)
def one_of_several() -> str:
    """Give a call the last of several GPUs; it must see no other."""
    require_gpu()
    gpus = find_gpus()
    kind, runtime = KINDS[best_kind()](), runtimes()[0]
    if not kind.is_sandbox:
        raise Skip("no sandbox works here")
    with stage(kind, [runtime], gpus[-1]) as staging:
        result = make_call(kind, make_job(staging, "open_nodes", runtime, gpus[-1]))
    print(block(result.output_tail))
    if result.value != 1.0:
        raise RuntimeError(f"{describe(result)}, 1 expected")
    if len(gpus) == 1:
        raise Skip("this machine has one GPU, which a call can open; nothing is seen of others")
    return f"of {len(gpus)} GPUs a call can open its own alone"


@step("a kill in the middle of a kernel", 120)
def kill() -> str:
    """Let calls time out while a kernel runs; the GPU's memory must be free soon after."""
    gpu = require_gpu()
    rows, slow = [], []
    with calls_on_gpu(*runtimes()) as call:
        for runtime in runtimes():
            before = used_gpu_memory(gpu)
            result = call("long_kernel", runtime, KERNEL_S)
            after, waited = wait_for_memory(gpu, before)
            late = result.call_wall_s - KERNEL_S
            rows.append((runtime, describe(result), result.output_tail, f"{late:.2f}", before, after, f"{waited:.1f}"))
            if result.outcome is not Outcome.TIMEOUT or result.survived_kill or after > before + 64:
                slow.append(runtime)
    titles = ("runtime", "result", "printed", "s late", "MiB in use before", "and after", "s until free")
    print(table(titles, rows))
    if slow:
        raise RuntimeError(f"not ended by the clock, or memory was not freed: {', '.join(slow)}")
    return "; ".join(f"{row[0]}: ended {row[3]} s late, memory free after {row[6]} s" for row in rows)


@step("traces in GPU memory", 150)
def traces() -> str:
    """Let one call fill the GPU's memory with a pattern and end, and the next call search for the pattern."""
    gpu = require_gpu()
    runtime = runtimes()[0]
    before = used_gpu_memory(gpu)
    with calls_on_gpu(runtime) as call:
        filled = call("fill_memory", runtime)
        wait_for_memory(gpu, before)
        found = call("find_pattern", runtime, 100.0)
    print(table(("call", "result", "printed"), [
        ("fills", describe(filled), filled.output_tail), ("looks", describe(found), found.output_tail),
    ]))  # fmt: skip
    if filled.outcome is not Outcome.OK or found.outcome is not Outcome.OK or filled.value is None:
        raise RuntimeError("a call failed")
    if found.value != 0.0:
        raise RuntimeError(f"{found.value:.0f} words of the earlier call were found")
    return f"{filled.value / 2**30:.1f} GiB filled; the next call: {found.output_tail.strip()}"
