"""Tests of PyTorch and TensorFlow in one process: torchvision crashes if TensorFlow is imported before it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_links import PAGES, ROOT

_BLOCK = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def imported(block: str) -> list[str]:
    """Return the packages that a block of code imports, in order."""
    found = []
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.Import):
            found += [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_import_torch_before_tensorflow(page: Path) -> None:
    for block in _BLOCK.findall(page.read_text()):
        names = imported(re.sub(r"^   ", "", block, flags=re.MULTILINE) if block.startswith("   ") else block)
        tensorflow = [names.index(name) for name in ("keras", "tensorflow") if name in names]
        for name in {"torch", "torchvision"} & set(names):
            assert all(names.index(name) < number for number in tensorflow), names


def test_a_model_of_pytorch_does_not_bring_tensorflow_into_the_process() -> None:
    code = (
        "import sys, pgdl\n"
        "try: pgdl.measure('num_params')(object(), ([[0.0]], [0]))\n"
        "except pgdl.UserError as error: print(error)\n"
        "print('tensorflow' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert ended.stdout == "model: expected a Keras model or a torch.nn.Module, found object\nFalse\n"
