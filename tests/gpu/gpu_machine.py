"""Steps that report the machine: versions, `pgdl doctor`, and the kinds of sandbox."""

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from gpu_calls import best_kind, describe, make_call, make_job, runtimes, stage
from gpu_report import block, line, table
from gpu_steps import step

from harness.errors import UserError
from harness.gpus import find_gpus
from harness.sandbox import KINDS
from harness.sandbox.devices import driver_library

PACKAGES = ("torch", "jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda13-plugin", "keras", "numpy", "scipy", "tensorflow")


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
    """Return `--unsafe-no-sandbox` if no sandbox works, otherwise no option."""
    return ["--unsafe-no-sandbox"] if best_kind() == "none" else []


def read(path: str) -> str:
    """Return the first line of a file, or `none` if there is no such file."""
    file = Path(path)
    return file.read_text().splitlines()[0] if file.exists() else "none"


def version(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


@step("machine", 60)
def machine() -> str:
    """List the machine's hardware and its installed software."""
    gpus = find_gpus()
    nodes = sorted(path.name for path in Path("/dev").glob("nvidia*"))
    rows = [
        ("user", "root" if os.geteuid() == 0 else "an ordinary user"),
        ("system", f"{platform.platform()}, {os.cpu_count()} processors"),
        ("Python", f"{platform.python_version()} in {sys.base_prefix}"),
        ("driver", read("/proc/driver/nvidia/version")),
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
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit status {done.returncode}")
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
            except UserError as error:
                row(name, runtime, "does not work", error, "")
                continue
            if result.value == 4.0 and name not in working:
                working.append(name)
    if silent:
        raise RuntimeError(f"the processor was used instead of the GPU: {', '.join(silent)}")
    return f"{', '.join(working)} work{'' if gpu else ', on the processor'}; the steps below use {best_kind()}"
