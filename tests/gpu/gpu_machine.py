"""Steps that report the machine, its kinds of sandbox and needed files, and runs of the example submissions."""

import json
import os
import platform
import re
import subprocess
import sys
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any
from unittest import mock

from gpu_calls import WORK, best_kind, describe, make_call, make_job, require_gpu, runtimes, stage
from gpu_steps import Skip, block, line, require, step, table

from harness.errors import UserError
from harness.gpus import find_gpus
from harness.sandbox import KINDS, devices
from harness.sandbox.devices import driver_library

#: Added one by one where CUDA does not work with the list as it is.
MORE_NODES = ("/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps", "/dev/zero")
MORE_FILES = (
    "/sys/module", "/sys/devices", "/sys/bus", "/sys/class", "/sys/kernel", "/proc/driver/nvidia", "/proc/sys/vm",
    "/proc/sys/kernel", "/proc/driver",
)  # fmt: skip

PACKAGES = ("torch", "jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda13-plugin", "keras", "numpy", "scipy", "tensorflow")

#: The demo task of which every model is called.
TASK = "digits_nin"

#: Largest difference of a value from the processor's, relative to the larger of its size and 1: values are logarithms.
TOLERANCE = 1e-3


def pgdl(*arguments: str, timeout_s: float, hide_gpu: bool = False) -> subprocess.CompletedProcess[str]:
    """Run `pgdl ARGUMENTS`; with `hide_gpu`, `pgdl` finds no GPU."""
    hide = "import harness.gpus; harness.gpus.find_gpus = lambda: []; " if hide_gpu else ""
    program = f"{hide}from harness.cli.main import main; main()"
    environment = os.environ | {"COLUMNS": "160", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments],  # -P: the installed package, not the checkout's
        timeout=timeout_s, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def sandbox_option() -> list[str]:
    return ["--unsafe-no-sandbox"] if best_kind() == "none" else []


@step("machine", 60)
def machine() -> str:
    def version(package: str) -> str:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return "not installed"

    gpus, driver = find_gpus(), Path("/proc/driver/nvidia/version")
    nodes = sorted(path.name for path in Path("/dev").glob("nvidia*"))
    rows = [
        ("user", "root" if os.geteuid() == 0 else "an ordinary user"),
        ("system", f"{platform.platform()}, {os.cpu_count()} processors"),
        ("Python", f"{platform.python_version()} in {sys.base_prefix}"),
        ("driver", driver.read_text().splitlines()[0] if driver.exists() else "none"),
        ("driver's library", driver_library() if gpus else "not looked for"),
        ("GPUs", ", ".join(f"{gpu.model} (nvidia{gpu.minor}, {gpu.bus})" for gpu in gpus) or "none"),
        ("device nodes", ", ".join(nodes) or "none"),
        *((name, version(name)) for name in PACKAGES),
    ]
    print(table(("", ""), rows))
    return f"{len(gpus)} GPUs, Linux {platform.release()}, Python {platform.python_version()}"


@step("pgdl doctor", 150)
def doctor() -> str:
    done = pgdl("doctor", timeout_s=140)
    print(block(done.stdout))
    require(done.returncode in (0, 1), f"exit status {done.returncode}")
    return "nothing is missing" if done.returncode == 0 else "something is missing, see below"


@step("kinds of sandbox", 200)
def kinds() -> str:
    """Make a call of known value in every working kind of sandbox and every runtime."""
    gpu = next(iter(find_gpus()), None)
    working, silent = [], []

    def row(*cells: object) -> None:  # at once: a kind may hang
        print(line(cells), flush=True)

    row("kind", "runtime", "outcome", "result", "s to start + load")
    row(*["---"] * 5)
    for name, kind_class in KINDS.items():
        kind = kind_class()
        problem = kind.problem()
        if problem is not None:
            row(name, "", "does not work", problem, "")
            continue
        for runtime in runtimes():
            try:
                with stage(kind, [runtime], gpu) as staging:
                    result = make_call(kind, make_job(staging, "forward", runtime, gpu))
                startup = f"{result.startup_wall_s:.2f} + {result.load_wall_s:.2f}"
                row(name, runtime, result.outcome, describe(result), startup)
                if gpu is not None and result.environment.get("device") == "cpu":
                    silent.append(f"{name}/{runtime}")
                if result.value == 4.0 and name not in working:
                    working.append(name)
            except UserError as error:
                row(name, runtime, "does not work", error, "")
    require(not silent, f"the processor was used instead of the GPU: {', '.join(silent)}")
    return f"{', '.join(working)} work{'' if gpu else ', on the processor'}; the steps below use {best_kind()}"


@step("files that CUDA needs", 150)
def needed_files() -> str:
    """Return the entries that CUDA needs. If CUDA fails with all entries, try additions, and raise `RuntimeError`."""
    gpu = require_gpu()
    kind, runtime = KINDS[best_kind()](), runtimes()[0]
    if not kind.is_sandbox:
        raise Skip("no sandbox works here")
    nodes, files = dict(devices.NODES), dict(devices.FILES)
    rows: list[tuple[str, str, str]] = []
    with stage(kind, [runtime], gpu) as staging:
        job = make_job(staging, "probe", runtime, gpu)

        def probe(what: str, some_nodes: dict[str, str], some_files: dict[str, str]) -> bool:
            with mock.patch.multiple(devices, NODES=some_nodes, FILES=some_files):
                result = make_call(kind, job)
            last = (result.output_tail.strip().splitlines() or [""])[-1]
            device = result.environment.get("device", "none")
            good = result.value == 0.0
            rows.append((what, "works" if good else f"{result.outcome} {result.message} {last}", device))
            return good

        works = probe("the list as it is", nodes, files)
        if works:
            for path in [*nodes, *files]:
                probe(f"without {path}", *({k: v for k, v in one.items() if k != path} for one in (nodes, files)))
        else:
            for path in MORE_NODES:
                probe(f"with {path}", nodes | {path: ""}, files)
            for path in MORE_FILES:
                probe(f"with {path}", nodes, files | {path: ""})
            probe("with all of these", nodes | dict.fromkeys(MORE_NODES, ""), files | dict.fromkeys(MORE_FILES, ""))
    print(table(("sandbox", "CUDA", "the framework's device"), rows))
    mended = " or ".join(what for what, state, _ in rows if state == "works") or "with none of the additions"
    require(works, f"CUDA does not work; it does {mended}")
    needed = [what.removeprefix("without ") for what, state, device in rows if (state, device) != rows[0][1:]]
    return f"CUDA works; needed are: {', '.join(needed) or 'none alone'}"


def require_installed(runtime: str) -> None:
    if runtime not in runtimes():
        raise Skip(f"{runtime} is not installed")


def check(runtime: str) -> str:
    require_installed(runtime)
    done = pgdl("check", f"submissions/input_gradient_{runtime}", *sandbox_option(), timeout_s=110)
    print(block(done.stdout))
    require("not on the GPU" not in done.stdout, "the GPU was not used")
    require(done.returncode == 0, f"exit status {done.returncode}")
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
    require_installed(runtime)
    rows = run(runtime)
    devices = {row["environment"].get("device") for row in rows}
    seconds = sorted(row["call_wall_s"] for row in rows)
    peak = max(row["peak_memory_bytes"] for row in rows) / 2**20
    print(table(("model", "outcome", "value", "s", "device"), [
        (row["model"], row["outcome"], row["value"], f"{row['call_wall_s']:.2f}", row["environment"].get("device"))
        for row in rows
    ]))  # fmt: skip
    require(all(row["outcome"] == "OK" for row in rows), "some calls failed")
    require(not find_gpus() or "cpu" not in devices, f"the GPU was not used: {devices}")
    median = seconds[len(seconds) // 2]
    where = ", ".join(map(str, devices))
    return f"{len(rows)} calls on {where}: median {median:.2f} s, at most {seconds[-1]:.2f} s; {peak:.0f} MiB at most"


def compare(runtime: str) -> str:
    require_gpu()
    require_installed(runtime)
    pairs = list(zip(run(runtime), run(runtime, hide_gpu=True), strict=True))
    first, second = ({row["environment"].get("device") for row in rows} for rows in zip(*pairs, strict=True))
    relative = max(abs(a["value"] - b["value"]) / abs(b["value"]) for a, b in pairs)
    largest = max(abs(a["value"] - b["value"]) / max(abs(b["value"]), 1.0) for a, b in pairs)
    print(table(("model", "GPU", "processor"), [(a["model"], a["value"], b["value"]) for a, b in pairs]))
    finding = f"{len(pairs)} values: largest relative difference {relative:.2g}, relative to at least 1: {largest:.2g}"
    require("cpu" not in first and second == {"cpu"}, f"the runs compared were on {first} and on {second}")
    require(largest < TOLERANCE, finding)
    return finding


for _runtime, _title, _more_s in (("torch", "PyTorch", 0), ("jax", "JAX", 80)):
    step(f"pgdl check, {_title}", 120, f"check_{_runtime}")(partial(check, _runtime))
    step(f"pgdl run, {_title}", 160 + _more_s, f"run_{_runtime}")(partial(run_all, _runtime))
    step(f"values of GPU and processor, {_title}", 160 + _more_s, f"compare_{_runtime}")(partial(compare, _runtime))
