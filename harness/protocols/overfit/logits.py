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
    file.write_text(json.dumps(without_softmax(json.loads(file.read_text()))))


def without_softmax(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """Return the architecture (`harness.worker.architecture`) with a linear output instead of a softmax.

    A softmax of a layer that is called more than once is left as it is.
    """
    *earlier, last = architecture["layers"]
    config = last.get("config", {})
    if last.get("class_name") == "Softmax":
        last = last | {"class_name": "Activation", "config": {"activation": "linear"}}
    elif config.get("activation") == "softmax":
        last = last | {"config": config | {"activation": "linear"}}
    return {**architecture, "layers": [*earlier, last]}
