"""Reads and writes TFRecord files (shards) without TensorFlow.

A record is its length (8 bytes), the length's checksum (4), the payload, and the payload's checksum (4). Numbers are
little-endian, and a checksum is a masked CRC-32C. The payload is a `tf.train.Example` with the bytes features `inputs`
(a serialized float32 tensor) and `output` (a serialized int32 scalar). Error messages count records from 0.

This module declares the needed fields of TensorFlow's protocol buffers; other fields are skipped. The field numbers
come from core/example/{example,feature}.proto and core/framework/tensor{,_shape}.proto.
"""

import math
import mmap
import os
import reprlib
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory
from numpy.typing import NDArray

from harness.errors import UserError
from harness.format.files import START, require_own_kind
from harness.format.layout import shard_name
from harness.reading import open_regular

_Field = descriptor_pb2.FieldDescriptorProto

#: Codes of types in tensorflow/core/framework/types.proto (`DataType`).
FLOAT32, INT32 = 1, 3
DTYPE_NAMES = {1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 9: "int64"}

#: Message of a protocol buffer -> its fields: name -> (number, type, is repeated).
_MESSAGES: dict[str, dict[str, tuple[int, int | str, bool]]] = {
    "Example": {"features": (1, "Features", False)},
    "Features": {"feature": (1, "Features.FeatureEntry", True)},
    "Features.FeatureEntry": {"key": (1, _Field.TYPE_STRING, False), "value": (2, "Feature", False)},
    "Feature": {"bytes_list": (1, "BytesList", False)},
    "BytesList": {"value": (1, _Field.TYPE_BYTES, True)},
    "TensorProto": {
        "dtype": (1, _Field.TYPE_INT32, False),
        "tensor_shape": (2, "TensorShapeProto", False),
        "tensor_content": (4, _Field.TYPE_BYTES, False),
        "float_val": (5, _Field.TYPE_FLOAT, True),
        "int_val": (7, _Field.TYPE_INT32, True),
    },
    "TensorShapeProto": {"dim": (2, "TensorShapeProto.Dim", True)},
    "TensorShapeProto.Dim": {"size": (1, _Field.TYPE_INT64, False)},
}

#: The error that the library raises for bytes that are no valid message.
DecodeError: Any = message.DecodeError

Sample = tuple[NDArray[np.float32], int]

#: Number of bytes of a record in addition to its payload.
FRAMING = 16

_DTYPES = {FLOAT32: np.dtype("<f4"), INT32: np.dtype("<i4")}
_COPY_AGAIN = "the file is damaged, copy it again"

#: Maximum number of elements, and of axes, of a tensor: a few bytes can declare any number of equal elements.
MAX_NUMBERS = 2**26
MAX_AXES = 8


def _declare() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="shard.proto", package="shard", syntax="proto3")
    declared: dict[str, Any] = {}
    for name, fields in _MESSAGES.items():
        parent, _, own_name = name.rpartition(".")
        message = declared[parent].nested_type.add() if parent else file.message_type.add()
        message.name = own_name
        message.options.map_entry = own_name.endswith("Entry")
        declared[name] = message
        for field_name, (number, kind, repeated) in fields.items():
            field = message.field.add(name=field_name, number=number)
            field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
            if isinstance(kind, str):
                field.type, field.type_name = _Field.TYPE_MESSAGE, f".shard.{kind}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()  # not the default pool, which may have TensorFlow's own declarations
    pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"shard.{name}"))


_message = _declare()
Example: Any = _message("Example")
TensorProto: Any = _message("TensorProto")


def count_samples(shard: Path) -> int:
    """Return the number of records in a shard, at least 1; raises `UserError` for an empty or truncated shard."""
    with mapped(shard) as data:
        return sum(1 for _ in payloads(data, shard))


def expected_samples(shard: Path) -> int:
    """Return the shard's size divided by the size of its first record; if this is no integer, count the records."""
    with mapped(shard) as data:
        _, length = next(payloads(data, shard))
        number, rest = divmod(len(data), length + FRAMING)
    return number if rest == 0 else count_samples(shard)


def read_samples(shard: Path) -> Iterator[Sample]:
    """Yield (input, label) of each record; raises `UserError` if a record is damaged, or has infinity or NaN."""
    with mapped(shard) as data:
        first: tuple[int, ...] | None = None
        for number, (start, length) in enumerate(payloads(data, shard)):
            payload = data[start : start + length]
            try:
                require_checksum(payload, data[start + length : start + length + 4])
                sample = decode_sample(payload)
                first = sample[0].shape if first is None else first
                _require_plain(sample, first)
            except UserError as error:
                raise UserError(f"record {number}: {error}", file=shard) from error
            yield sample


@contextmanager
def mapped(shard: Path) -> Iterator[mmap.mmap]:
    """Map the bytes of a shard into memory; raises `UserError` if the file is empty or of another kind."""
    with open_regular(shard, links=True) as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            raise UserError("empty shard", file=shard, expected="at least 1 record", found="0 bytes")
        try:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:  # larger than the address space
            raise UserError("cannot be mapped", file=shard, found=error.strerror) from error
    with data:
        # In another kind of file, the first bytes, read as the length of a record, exceed the size of any file.
        require_own_kind("not a shard", data[:START], file=shard, expected="records of TensorFlow")
        yield data


def payloads(data: mmap.mmap, shard: Path) -> Iterator[tuple[int, int]]:
    """Yield (start, length) of each record's payload; raises `UserError` if a length or its checksum is damaged."""
    start, number = 0, 0
    while start < len(data):
        header = data[start : start + 12]
        length = struct.unpack("<Q", header[:8])[0] if len(header) == 12 else 0
        try:
            if len(header) == 12:
                require_checksum(header[:8], header[8:])
            end = start + 12 + length + 4
            if end > len(data):
                raise UserError(
                    "truncated", expected=f"at least {end} bytes", found=len(data), remedy="copy the file again"
                )
        except UserError as error:
            raise UserError(f"record {number}: {error}", file=shard) from error
        yield start + 12, length
        start, number = end, number + 1


def require_checksum(content: bytes, stored: bytes) -> None:
    """Raise `UserError` unless `stored` is the checksum of `content`."""
    expected, found = _checksum(content), int.from_bytes(stored, "little")
    if found != expected:
        raise UserError("checksum", expected=f"{expected:#010x}", found=f"{found:#010x}", remedy=_COPY_AGAIN)


def _checksum(content: bytes) -> int:
    crc = google_crc32c.value(content)
    return int(((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def decode_sample(payload: bytes) -> Sample:
    """Return the input (read-only) and the label in a record's payload; raises `UserError` if it is no example."""
    try:
        features = Example.FromString(payload).features.feature
        inputs = _tensor(features, "inputs", FLOAT32)
        label = _tensor(features, "output", INT32)
    except DecodeError as error:
        raise UserError("payload", expected="a tf.train.Example of serialized tensors", found=error) from error
    if label.shape != ():
        raise UserError("output", expected="a scalar", found=f"shape {label.shape}")
    return inputs, int(label)


def _tensor(features: Any, name: str, dtype: int) -> NDArray[Any]:
    if name not in features:
        found = ", ".join(sorted(features)) or "none"
        raise UserError("features", expected="inputs and output", found=found)
    values = features[name].bytes_list.value
    if len(values) != 1:
        raise UserError(name, expected="one serialized tensor as bytes", found=f"{len(values)} byte strings")
    proto = TensorProto.FromString(values[0])
    if proto.dtype != dtype:
        found = DTYPE_NAMES.get(proto.dtype, f"type {proto.dtype}")
        raise UserError(name, expected=DTYPE_NAMES[dtype], found=found)
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if len(shape) > MAX_AXES or any(size < 0 for size in shape) or math.prod(shape) > MAX_NUMBERS:
        expected = f"at most {MAX_AXES} axes and {MAX_NUMBERS} numbers"
        raise UserError(f"shape of {name}", expected=expected, found=reprlib.repr(shape))
    array = _content(proto, dtype, math.prod(shape))
    if array.size != math.prod(shape):
        raise UserError(name, expected=f"{math.prod(shape)} numbers for shape {shape}", found=array.size)
    return array.reshape(shape)


def _content(proto: Any, dtype: int, size: int) -> NDArray[Any]:
    if proto.tensor_content:
        if len(proto.tensor_content) % 4:
            raise UserError("tensor", expected="4 bytes per number", found=f"{len(proto.tensor_content)} bytes")
        return np.frombuffer(proto.tensor_content, _DTYPES[dtype])
    values = np.array(proto.float_val if dtype == FLOAT32 else proto.int_val, _DTYPES[dtype])
    if len(values) < size:  # TensorFlow leaves out repetitions of the last value, and all values of a tensor of zeros
        last = values[-1] if len(values) else 0
        values = np.concatenate([values, np.full(size - len(values), last, _DTYPES[dtype])])
    return values


def _require_plain(sample: Sample, shape: tuple[int, ...]) -> None:
    inputs, _ = sample
    if inputs.shape != shape:
        raise UserError("inputs", expected=f"shape {shape} as in record 0", found=f"{inputs.shape}")
    if not np.isfinite(inputs).all():
        raise UserError("inputs", expected="finite numbers", found="NaN or infinity")


def write_shards(directory: Path, inputs: NDArray[Any], labels: NDArray[Any], n_shards: int = 2) -> None:
    """Write inputs (n, ...) as float32 and labels (n,) as int32, in this order, to up to `n_shards` files."""
    directory.mkdir(parents=True, exist_ok=True)
    inputs, labels = np.asarray(inputs, np.float32), np.asarray(labels, np.int32)
    for number, part in enumerate(np.array_split(np.arange(len(inputs)), min(n_shards, len(inputs)))):
        payloads = [example(inputs=tensor(inputs[i]), output=tensor(labels[i])) for i in part]
        write_records(directory / shard_name(number), payloads)


def write_records(path: Path, payloads: Sequence[bytes]) -> None:
    """Write a TFRecord file with a record for each payload."""
    with path.open("wb") as stream:
        for payload in payloads:
            for content in (struct.pack("<Q", len(payload)), payload):
                stream.write(content + struct.pack("<I", _checksum(content)))


def example(**features: bytes) -> bytes:
    """Return a serialized tf.train.Example; each feature contains bytes."""
    message = Example()
    for name, value in features.items():
        message.features.feature[name].bytes_list.value.append(value)
    return bytes(message.SerializeToString(deterministic=True))


def tensor(array: Any) -> bytes:
    """Return an int32 or float32 array as a serialized tensor of TensorFlow."""
    array = np.asarray(array)
    dtype = INT32 if np.issubdtype(array.dtype, np.integer) else FLOAT32
    message = TensorProto(dtype=dtype, tensor_content=array.tobytes())
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    return bytes(message.SerializeToString(deterministic=True))
