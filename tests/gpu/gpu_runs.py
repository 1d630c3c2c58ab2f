"""Steps that run the example submissions on the demo tasks."""

import json
import re
from functools import partial
from typing import Any

from gpu_calls import WORK, require_gpu, runtimes
from gpu_machine import pgdl, sandbox_option
from gpu_report import block, table
from gpu_steps import Skip, step

from harness.gpus import find_gpus

#: The demo task of which every model is called.
TASK = "digits_nin"

#: Largest difference of a value from the processor's, relative to the larger of its size and 1: values are logarithms.
TOLERANCE = 1e-3


def check(runtime: str) -> str:
    """Run `pgdl check` with a submission on some models of every demo task."""
    if runtime not in runtimes():
        raise Skip(f"{runtime} is not installed")
    done = pgdl("check", f"submissions/input_gradient_{runtime}", *sandbox_option(), timeout_s=110)
    print(block(done.stdout))
    warned = "not on the GPU" in done.stdout
    if done.returncode != 0 or warned:
        raise RuntimeError("the GPU was not used" if warned else f"exit status {done.returncode}")
    return "passes" + ("" if find_gpus() else ", on the processor")


def run(runtime: str, *, hide_gpu: bool = False) -> list[dict[str, Any]]:
    """Run a submission on every model of `TASK`; return the records."""
    results = str(WORK / f"{runtime}-{'processor' if hide_gpu else 'default'}.db")
    more = ["--task", TASK, "--results", results, *sandbox_option()]
    done = pgdl("run", f"submissions/input_gradient_{runtime}", *more, timeout_s=230, hide_gpu=hide_gpu)
    if done.returncode != 0:
        print(block(done.stdout))
        raise RuntimeError(f"pgdl run: exit status {done.returncode}")
    lines = pgdl("results", "--results", results, "--format", "json", timeout_s=60).stdout.splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    return sorted(rows, key=lambda row: [int(number) for number in re.findall(r"\d+", row["model"])])


def run_all(runtime: str) -> str:
    """Run a submission, and check in the records whether the GPU was used."""
    if runtime not in runtimes():
        raise Skip(f"{runtime} is not installed")
    rows = run(runtime)
    devices = {row["environment"].get("device") for row in rows}
    seconds = sorted(row["call_wall_s"] for row in rows)
    peak = max(row["peak_memory_bytes"] for row in rows) / 2**20
    print(table(("model", "outcome", "value", "s", "device"), [
        (row["model"], row["outcome"], row["value"], f"{row['call_wall_s']:.2f}", row["environment"].get("device"))
        for row in rows
    ]))  # fmt: skip
    if any(row["outcome"] != "OK" for row in rows):
        raise RuntimeError("some calls failed")
    if find_gpus() and "cpu" in devices:
        raise RuntimeError(f"the GPU was not used: {devices}")
    median = seconds[len(seconds) // 2]
    where = ", ".join(map(str, devices))
    return f"{len(rows)} calls on {where}: median {median:.2f} s, at most {seconds[-1]:.2f} s; {peak:.0f} MiB at most"


def compare(runtime: str) -> str:
    """Compare a submission's values on the GPU with its values on the processor."""
    require_gpu()
    if runtime not in runtimes():
        raise Skip(f"{runtime} is not installed")
    pairs = list(zip(run(runtime), run(runtime, hide_gpu=True), strict=True))
    first, second = ({row["environment"].get("device") for row in rows} for rows in zip(*pairs, strict=True))
    relative = max(abs(a["value"] - b["value"]) / abs(b["value"]) for a, b in pairs)
    largest = max(abs(a["value"] - b["value"]) / max(abs(b["value"]), 1.0) for a, b in pairs)
    print(table(("model", "GPU", "processor"), [(a["model"], a["value"], b["value"]) for a, b in pairs]))
    finding = f"{len(pairs)} values: largest relative difference {relative:.2g}, relative to at least 1: {largest:.2g}"
    if "cpu" in first or second != {"cpu"}:
        raise RuntimeError(f"the runs compared were on {first} and on {second}")
    if not largest < TOLERANCE:
        raise RuntimeError(finding)
    return finding


for _runtime, _title, _more_s in (("torch", "PyTorch", 0), ("jax", "JAX", 80)):
    step(f"pgdl check, {_title}", 120, f"check_{_runtime}")(partial(check, _runtime))
    step(f"pgdl run, {_title}", 160 + _more_s, f"run_{_runtime}")(partial(run_all, _runtime))
    step(f"values of GPU and processor, {_title}", 160 + _more_s, f"compare_{_runtime}")(partial(compare, _runtime))
