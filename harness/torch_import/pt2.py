"""Reads `.pt2` files, which `torch.export.save` writes: a graph as JSON, and weights as plain bytes.

PyTorch is not needed, and nothing is unpickled. Sample inputs, the only pickled part of an ordinary file, are skipped.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.format.archive import names, open_archive, read_member
from harness.format.files import EXPORT, parse_json
from harness.machine_memory import usable_memory
from harness.text import printable

Array = NDArray[Any]

#: Maximum number of members of an archive; each weight has a member of its own.
MAX_MEMBERS = 20_000

#: Maximum size of a graph in bytes; the largest graphs of torchvision and timm have 20 MB.
MAX_GRAPH = 256 * 1024**2

#: PyTorch's number of a type -> the type's name in NumPy; NumPy lacks bfloat16.
TYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64", 12: "bool",
    13: "bfloat16",
}  # fmt: skip

_MARK = "archive_format"

_REMEDY = f"{EXPORT} writes it"


@dataclass(frozen=True)
class ArgumentReference:
    """The name of an earlier operation's result, as an argument of an operation."""

    name: str


@dataclass(frozen=True)
class GraphOperation:
    """A node of a graph: an operation with its arguments."""

    target: str  #: such as `aten.conv2d.default`, or an operator of Python on sizes, such as `_operator.mul`
    arguments: Mapping[str, Any]  #: name -> number, text, `ArgumentReference` or list; without default values
    outputs: tuple[str | None, ...]  #: names of the results; None for a result that is not used
    is_list: bool  #: whether the operation returns a list
    path: str  #: path of the module that called the operation, such as `layer2.0.bn1`

    @property
    def name(self) -> str:
        """The operation's short name, such as `conv2d` for `aten.conv2d.default`."""
        return self.target.partition(".")[2].partition(".")[0]

    def called_with(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name. `values` (name -> result) replaces references to results."""
        return {name: _resolved(argument, values) for name, argument in self.arguments.items()}

    def named(self, found: Any) -> Iterator[tuple[str, Any]]:
        """Yield (name, value) of each result that is used later. `found` is what the operation has returned."""
        results: Iterable[Any] = found if self.is_list else [found]
        yield from ((name, one) for name, one in zip(self.outputs, results, strict=False) if name is not None)


def _resolved(argument: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(argument, ArgumentReference):
        return values[argument.name]
    return [_resolved(one, values) for one in argument] if isinstance(argument, list) else argument


@dataclass(frozen=True)
class Graph:
    """A network that PyTorch has exported: its operations and constants."""

    file: Path  #: the `.pt2` file, for messages
    operations: tuple[GraphOperation, ...]  #: the operations in the order of their execution
    tensors: Mapping[str, Array]  #: name in the graph -> weight or other constant
    parameters: Mapping[str, str]  #: name in the graph -> name in the module (`conv1.weight`) of trained tensors
    input: str  #: name of the input
    input_shape: tuple[int, ...]  #: shape of the input, with the batch size of the export as first axis
    output: str  #: name of the output


def is_pt2(archive: ZipFile) -> bool:
    """Whether a zip archive was written by `torch.export.save`."""
    return any(PurePosixPath(name).name == _MARK for name in names(archive))


def read_pt2(path: Path) -> Graph:
    """Read an exported network; raises `UserError` for damage, pickled or half-precision weights, or several inputs."""
    with open_archive(path, MAX_MEMBERS) as archive:
        (mark,) = [name for name in names(archive) if PurePosixPath(name).name == _MARK][:1] or [""]
        home = mark.removesuffix(_MARK)
        try:
            model = _json(archive, f"{home}models/model.json")
            return _graph(_Archive(archive, home, path), model["graph_module"])
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            found = printable(repr(error))[:200]
            expected = "a graph as torch.export.save of PyTorch 2.13 writes it"
            raise UserError("malformed", expected=expected, found=found, remedy=_REMEDY) from error


def _json(archive: ZipFile, name: str) -> dict[str, Any]:
    if name not in names(archive):
        expected = f"{name}, as torch.export.save of PyTorch 2.13 writes it"
        raise UserError("no exported network", expected=expected, found="none", remedy=_REMEDY)
    return parse_json(read_member(archive, name, MAX_GRAPH), Path(name))


@dataclass(frozen=True)
class _Archive:
    archive: ZipFile
    home: str
    path: Path

    def tensors(self, folder: str, kind: str) -> dict[str, tuple[Any, str]]:
        """Return name -> (declaration, archive member with the numbers) of the tensors in a folder of the archive."""
        config = _json(self.archive, f"{self.home}data/{folder}/model_{folder}_config.json")["config"]
        return {name: (entry, f"{self.home}data/{folder}/{entry['path_name']}") for name, entry in config.items()}

    def read(self, name: str, entry: Mapping[str, Any], member: str) -> Array:
        """Return the tensor `name` from a member's numbers; `entry` declares type, shape, offset and strides."""
        if entry["use_pickle"]:
            remedy = f"pickled data are never read; export the module on the CPU: {_REMEDY}"
            raise UserError(f"weight {printable(name)}", expected="plain bytes", found="a pickle", remedy=remedy)
        meta = entry["tensor_meta"]
        dtype = np.dtype(_dtype(name, meta["dtype"])).newbyteorder("<")
        content = np.frombuffer(read_member(self.archive, member, usable_memory().available), np.uint8)
        numbers = content[: len(content) // dtype.itemsize * dtype.itemsize].view(dtype)
        shape, strides = (tuple(one["as_int"] for one in meta[part]) for part in ("sizes", "strides"))
        start = meta["storage_offset"]["as_int"]
        last = start + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        if min(shape, default=1) < 1:
            return np.zeros(shape, dtype)
        if min((start, *strides)) < 0 or last >= len(numbers):
            found = f"{len(content)} bytes"
            raise UserError(f"weight {printable(name)}", expected=f"{dtype} of shape {shape}", found=found)
        steps = [stride * dtype.itemsize for stride in strides]
        return np.array(np.lib.stride_tricks.as_strided(numbers[start:], shape, steps))


def _dtype(name: str, number: int) -> str:
    if number not in TYPES:
        raise UserError(f"weight {printable(name)}", expected="real numbers", found=f"PyTorch's type {number}")
    if TYPES[number] in ("float16", "bfloat16"):
        remedy = "export module.float()"
        raise UserError(f"weight {printable(name)}", expected="float32", found=TYPES[number], remedy=remedy)
    return TYPES[number]


def _graph(archive: _Archive, module: Mapping[str, Any]) -> Graph:
    stored = archive.tensors("weights", "weight") | archive.tensors("constants", "constant")
    graph, tensors, parameters, inputs = module["graph"], {}, {}, []
    for spec in module["signature"]["input_specs"]:
        ((kind, content),) = spec.items()
        argument = content["arg"]
        if kind == "user_input":
            inputs.append(_one(argument))
            continue
        (name,) = [content[key] for key in content if key.endswith("_name")]
        tensors[argument["name"]] = archive.read(name, *stored[name])
        if kind == "parameter":
            parameters[argument["name"]] = name
    outputs = [_one(content["arg"]) for spec in module["signature"]["output_specs"]
               for kind, content in spec.items() if kind == "user_output"]  # fmt: skip
    for role, found in (("inputs", inputs), ("outputs", outputs)):
        if len(found) != 1 or not isinstance(found[0], ArgumentReference):
            remedy = f"wrap the module in one with one tensor as {role[:-1]}"
            raise UserError(role, expected="1 tensor", found=len(found), remedy=remedy)
    (source,), (end,) = inputs, outputs
    shape = tuple(_size(size) for size in graph["tensor_values"][source.name]["sizes"])
    if len(shape) < 2:
        raise UserError("input", expected="the axes (examples, channels, ...)", found=f"shape {shape}")
    operations = tuple(map(_operation, graph["nodes"]))
    return Graph(archive.path, operations, tensors, parameters, source.name, shape, end.name)


def _operation(node: Mapping[str, Any]) -> GraphOperation:
    arguments = {given["name"]: _one(given["arg"]) for given in node["inputs"]}
    found = [_one(output) for output in node["outputs"]]
    is_list = len(found) == 1 and isinstance(found[0], list)
    references = found[0] if is_list else found
    stack = str(node["metadata"].get("nn_module_stack", "")).split(";")[-1].split(",")
    path = stack[1] if len(stack) == 3 and not stack[1].startswith("_empty_nn") else ""
    outputs = tuple(one.name if isinstance(one, ArgumentReference) else None for one in references)
    return GraphOperation(node["target"].removeprefix("torch.ops."), arguments, outputs, is_list, path)


def _one(argument: Mapping[str, Any]) -> Any:
    """Return the value that an argument contains, such as 3 for the object {"as_int": 3}."""
    ((kind, content),) = argument.items()
    if kind in ("as_none", "as_memory_format", "as_layout", "as_device"):
        return None
    if kind == "as_tensor":
        return _reference(content["name"])
    if kind in ("as_sym_int", "as_name"):
        return _reference(content) if kind == "as_name" else _one(content)
    if kind == "as_tensors":
        return [_reference(one["name"]) for one in content]
    if kind in ("as_sym_ints", "as_optional_tensors"):
        return [_one(one) for one in content]
    if kind in ("as_int", "as_ints", "as_float", "as_floats", "as_bool", "as_bools", "as_string", "as_scalar_type"):
        return content
    raise UserError("argument", expected="tensors, numbers and text", found=printable(kind)[:50])


def _reference(name: Any) -> ArgumentReference:
    if not isinstance(name, str):
        raise TypeError(f"a name that is no text: {name!r}")
    return ArgumentReference(name)


def _size(size: Mapping[str, Any]) -> int:
    found = size["as_int"] if "as_int" in size else size["as_expr"]["hint"]["as_int"]
    if not 0 < int(found) < math.inf:
        raise ValueError(f"size {found}")
    return int(found)
