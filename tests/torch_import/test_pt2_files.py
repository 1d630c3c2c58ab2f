"""Tests of strangers' `.pt2` files: they are read without PyTorch, and wrong files are refused in one line."""

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UserError
from harness.importer.exported import translated_rows
from harness.importer.table import ImportedRow
from harness.torch_import.pt2 import read_pt2

pytestmark = pytest.mark.rest

MODEL, WEIGHTS = "models/model.json", "data/weights/model_weights_config.json"

Change = Callable[[Any], None]


def changed(source: Path, target: Path, member: str, change: Change) -> Path:
    """Write a copy of a `.pt2` file in which `change` has changed the JSON member `member`."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename.endswith(member):
                value = json.loads(content)
                change(value)
                content = json.dumps(value).encode()
            new.writestr(info.filename, content)
    return target


def first_weight(config: Any) -> Any:
    return next(iter(config["config"].values()))


def set_meta(**meta: Any) -> Change:
    return lambda config: first_weight(config)["tensor_meta"].update(meta)


def nodes(model: Any) -> Any:
    return model["graph_module"]["graph"]["nodes"]


CHANGES: dict[str, tuple[str, Change, str]] = {
    "pickled weights": (
        WEIGHTS, lambda config: first_weight(config).update(use_pickle=True),
        r"weight 0\.weight: expected plain bytes, found a pickle; pickled data are never read",
    ),
    "half precision": (WEIGHTS, set_meta(dtype=13), "expected float32, found bfloat16; export module.float()"),
    "another type": (WEIGHTS, set_meta(dtype=10), "expected real numbers, found PyTorch's type 10"),
    "beyond the bytes": (WEIGHTS, set_meta(storage_offset={"as_int": 10**9}), r"float32 of shape \(8, 3, 3, 3\)"),
    "before the bytes": (WEIGHTS, set_meta(storage_offset={"as_int": -1}), r"float32 of shape \(8, 3, 3, 3\)"),
    "no member": (
        WEIGHTS, lambda config: first_weight(config).update(path_name="../../etc/passwd"),
        "member network/data/weights/../../etc/passwd: expected one of this name, found none",
    ),
    "two inputs": (
        MODEL, lambda model: model["graph_module"]["signature"]["input_specs"].append(
            {"user_input": {"arg": {"as_tensor": {"name": "y"}}}}
        ), "inputs: expected 1 tensor, found 2; wrap the module",
    ),
    "control flow": (
        MODEL, lambda model: nodes(model)[0]["inputs"].append({"name": "f", "arg": {"as_graph": {}}, "kind": 1}),
        "argument: expected tensors, numbers and text, found as_graph",
    ),
    "no graph": (MODEL, lambda model: model.clear(), "malformed: expected a graph as torch.export.save"),
    "an unknown argument": (
        MODEL, lambda model: nodes(model)[0]["inputs"].append({"name": "f", "arg": {"as_int": 1}, "kind": 1}),
        "aten.conv2d.default has arguments that are not supported",
    ),
    "another library": (
        MODEL, lambda model: nodes(model)[0].update(target="os.system"), r"os\.system has no translation",
    ),
    "an operation of no library": (
        MODEL, lambda model: nodes(model)[0].update(target="conv2d"), "conv2d has no translation",
    ),
    "names that are lists": (
        MODEL, lambda model: nodes(model)[0]["inputs"][0].update(arg={"as_tensor": {"name": ["x"]}}),
        "malformed: expected a graph as torch.export.save",
    ),
    "one number for each example": (
        MODEL, lambda model: [one.update(sizes=[{"as_int": 2}])
                              for one in model["graph_module"]["graph"]["tensor_values"].values()],
        r"input: expected the axes \(examples, channels, \.\.\.\), found shape \(2,\)",
    ),
    "a name of the output that is a list": (
        MODEL, lambda model: model["graph_module"]["signature"].update(
            output_specs=[{"user_output": {"arg": {"as_tensor": {"name": ["x"]}}}}]
        ), "malformed: expected a graph as torch.export.save",
    ),
}  # fmt: skip


def imported(file: Path) -> None:
    translated_rows([ImportedRow("models.csv: line 2", file)], file.parent)


@pytest.mark.parametrize("name", CHANGES)
def test_other_files_are_refused_in_one_line(networks: Path, tmp_path: Path, name: str) -> None:
    member, change, problem = CHANGES[name]
    file = changed(networks / "plain" / "network.pt2", tmp_path / "other.pt2", member, change)
    with pytest.raises(UserError) as refused:
        imported(file)
    assert re.search(problem, str(refused.value)), refused.value
    assert str(refused.value).startswith(f"{file}: ")
    assert str(refused.value).count("other.pt2") == 1
    assert "\n" not in str(refused.value)


def test_weights_alone_say_how_to_export(tmp_path: Path) -> None:
    file = tmp_path / "weights.pt"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("weights/data.pkl", b"\x80\x02}q\x00.")
        archive.writestr("weights/version", b"3")
    with pytest.raises(UserError, match=r"a pickle of PyTorch \(weights, .*; torch\.export\.save"):
        imported(file)


def test_sample_inputs_are_skipped(networks: Path, tmp_path: Path) -> None:
    file = tmp_path / "network.pt2"
    shutil.copy(networks / "plain" / "network.pt2", file)
    with zipfile.ZipFile(file) as archive:
        assert any("sample_inputs" in name for name in archive.namelist())
    graph = read_pt2(file)
    assert (graph.input_shape, len(graph.tensors)) == ((2, 3, 8, 8), 9)
    assert [operation.name for operation in graph.operations[:2]] == ["conv2d", "batch_norm"]
