"""Infers the shapes of an architecture's weights and output with Keras, in a process, and caches the results."""

import importlib.metadata
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.cache import cache_directory, write_whole
from harness.errors import UserError
from harness.format.architecture import Architecture, LayerShapes, ModelShapes
from harness.processes import KERAS_DEFAULTS, NoAnswerError, Process, UnableError
from harness.processes.runtimes import QUICKEST, installed_runtime

#: Seconds in which a process must start and Keras must infer the shapes of an architecture.
SECONDS = 180.0

#: Maximum number of layers in a row. Keras builds a network recursively, and Python allows 1000 levels of recursion.
MAX_IN_A_ROW = 900


def infer_shapes(architectures: Iterable[Architecture]) -> dict[str, ModelShapes | str]:
    """Return digest of an architecture -> its shapes, or Keras' error message; raises `UserError` if Keras fails."""
    wanted = {architecture.digest: architecture for architecture in architectures}
    entries = {digest: _cache_entry(digest) for digest in wanted}
    known = {digest: shapes for digest in wanted if (shapes := _recall(entries[digest])) is not None}
    answers: dict[str, ModelShapes | str] = {**known}
    if missing := [digest for digest in wanted if digest not in known]:
        with keras_process() as process:
            for digest in missing:
                answers[digest] = _ask_keras(process, wanted[digest], entries[digest])
    return answers


def keras_process() -> Process:
    """Return a new process that infers shapes (`harness.processes.shapes`)."""
    return Process("harness.processes.shapes", installed_runtime(QUICKEST), threads=1, gpu=False)


def _ask_keras(process: Process, architecture: Architecture, entry: Path) -> ModelShapes | str:
    """Ask Keras for the shapes, and cache and return them. If Keras refuses the architecture, return its message."""
    if (number := _in_a_row(architecture.canonical["layers"])) > MAX_IN_A_ROW:
        return f"{number} layers in a row, at most {MAX_IN_A_ROW} are allowed"
    try:
        answer = process.ask(architecture.canonical, seconds=SECONDS)
    except UnableError as error:
        what = "Keras could not infer the shapes of the weights"
        raise UserError(what, file=architecture.file, found=error, remedy="run `pgdl doctor`") from error
    except NoAnswerError as error:
        return str(error)
    with suppress(OSError):  # a full disk, or the cache of another user, only costs time
        write_whole(entry, json.dumps(answer).encode())
    return parse_shapes(answer)


def _in_a_row(layers: Sequence[dict[str, Any]]) -> int:
    """Return the number of layers from the input to the output, on the path through the first input of each layer."""
    numbers = [0]  # position -1, the input, is the first entry
    for position, layer in enumerate(layers):
        first, *_ = layer.get("inputs", [position - 1]) or [-1]
        numbers.append(numbers[first + 1] + 1)
    return numbers[-1]


def _cache_entry(digest: str) -> Path:
    key = f"{importlib.metadata.version('keras')} {KERAS_DEFAULTS} {digest}"
    return cache_directory("shapes") / f"{sha256(key.encode()).hexdigest()}.json"


def _recall(entry: Path) -> ModelShapes | None:
    try:
        return parse_shapes(json.loads(entry.read_bytes()))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def parse_shapes(answer: Any) -> ModelShapes:
    """Return the shapes in an answer of `harness.processes.shapes`; raises `LookupError` or `TypeError` if invalid."""
    layers = (
        LayerShapes(layer["class_name"], tuple((w["name"], tuple(w["shape"])) for w in layer["weights"]))
        for layer in answer["layers"]
    )
    return ModelShapes(tuple(layers), tuple(answer["output_shape"]))
