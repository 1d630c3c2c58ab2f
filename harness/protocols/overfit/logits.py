"""Architectures whose outputs are logits."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ARCHITECTURE = "architecture.json"


def strip_softmax(model: Path) -> None:
    """Remove a final softmax from the architecture of a model in canonical form.

    Its outputs round to 0 and 1, so that margins of them could not tell the strongest adversarial example.
    """
    file = model / ARCHITECTURE
    file.write_bytes(json.dumps(without_softmax(json.loads(file.read_bytes()))).encode())


def without_softmax(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """Return the architecture (`harness.worker.architecture`) with a linear output instead of a softmax."""
    position = architecture.get("softmax")
    if position is None:
        return {**architecture}
    last = architecture["layers"][position]
    if last["class_name"] == "Softmax":
        last = last | {"class_name": "Activation", "config": {"activation": "linear"}}
    else:
        last = last | {"config": last["config"] | {"activation": "linear"}}
    layers = [*architecture["layers"][:position], last, *architecture["layers"][position + 1 :]]
    return {name: value for name, value in architecture.items() if name != "softmax"} | {"layers": layers}
