"""Shapes of an architecture's weights and output, as inferred by Keras itself.

One subprocess runs Keras for all architectures; the results are cached, so that the same models need no framework
a second time.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.cache import cache_directory
from harness.errors import UserError
from harness.format.architecture import Architecture, LayerShapes, ModelShapes
from harness.worker.runtimes import RUNTIMES, Runtime

#: The runtimes that can infer shapes, the fastest first.
PREFERRED = ("jax", "torch", "tensorflow")


def infer_shapes(architectures: Iterable[Architecture]) -> dict[str, ModelShapes | str]:
    """Return digest -> shapes of every architecture, or the error of Keras in one line.

    Raises:
        UserError: Keras cannot be started.
    """
    wanted = {architecture.digest: architecture.canonical for architecture in architectures}
    entries = {digest: _cache_entry(digest) for digest in wanted}
    known = {digest: shapes for digest in wanted if (shapes := _recall(entries[digest])) is not None}
    missing = [digest for digest in wanted if digest not in known]
    answers: dict[str, ModelShapes | str] = {**known}
    for digest, answer in zip(missing, _ask_keras([wanted[digest] for digest in missing]), strict=True):
        if "error" in answer:
            answers[digest] = str(answer["error"])
        else:
            answers[digest] = parse_shapes(answer)
            _remember(entries[digest], answer)
    return answers


def _ask_keras(architectures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not architectures:
        return []
    process = run_keras(installed_runtime(PREFERRED), json.dumps(architectures))
    if process.returncode != 0:
        last = (process.stderr.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        raise UserError("Keras could not infer the shapes of the weights", found=last, remedy="run `pgdl doctor`")
    answers: list[dict[str, Any]] = json.loads(process.stdout)
    return answers


def run_keras(runtime: Runtime, question: str) -> "subprocess.CompletedProcess[str]":
    """Run `harness.worker.describe` to its end."""
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "-1"} | runtime.environment(threads=1, gpu=False)
    return subprocess.run(
        [sys.executable, "-m", "harness.worker.describe", runtime.name],
        input=question,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def installed_runtime(preferred: Sequence[str]) -> Runtime:
    """Return the first of some runtimes that is installed; raises `UserError` if none is."""
    for name in preferred:
        if not RUNTIMES[name].missing():
            return RUNTIMES[name]
    remedy = f"{RUNTIMES['tensorflow'].install}, or the extra jax or torch"
    raise UserError("no framework is installed", expected="TensorFlow, JAX or PyTorch", found="none", remedy=remedy)


def require_runtime(name: str, purpose: str) -> Runtime:
    """Return a runtime; raises `UserError`, which begins with the purpose, if it is not installed."""
    runtime = RUNTIMES[name]
    if missing := runtime.missing():
        raise UserError(f"{purpose}; not installed: {', '.join(missing)}", remedy=runtime.install)
    return runtime


def _cache_entry(digest: str) -> Path:
    version = importlib.metadata.version("keras")
    return cache_directory("shapes") / f"{sha256(f'{version} {digest}'.encode()).hexdigest()}.json"


def _recall(entry: Path) -> ModelShapes | None:
    """Return the entry's content, or None if it is missing or damaged."""
    try:
        return parse_shapes(json.loads(entry.read_bytes()))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _remember(entry: Path, answer: dict[str, Any]) -> None:
    """Write the entry atomically: another harness may be reading it."""
    temporary = entry.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(answer))
    temporary.replace(entry)


def parse_shapes(answer: Any) -> ModelShapes:
    """Parse an answer of `harness.worker.describe`; raises `LookupError` or `TypeError` if it is malformed."""
    layers = (
        LayerShapes(layer["class_name"], tuple((w["name"], tuple(w["shape"])) for w in layer["weights"]))
        for layer in answer["layers"]
    )
    return ModelShapes(tuple(layers), tuple(answer["output_shape"]))
