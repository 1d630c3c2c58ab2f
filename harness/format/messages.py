"""The protocol buffers inside a TFRecord shard, declared here so that reading them needs no TensorFlow.

Only the fields of a serialized float32 or int32 tensor are declared, others are skipped. The field numbers
are those of TensorFlow's files core/example/{example,feature}.proto and core/framework/tensor{,_shape}.proto.
"""

from typing import Any

from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message,
    message_factory,
)

_Field = descriptor_pb2.FieldDescriptorProto

#: `DataType` of tensorflow/core/framework/types.proto.
FLOAT32, INT32 = 1, 3
DTYPE_NAMES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    9: "int64",
}

#: Message -> field -> (number, type, is repeated).
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
    pool = descriptor_pool.DescriptorPool()  # not the default pool, which may contain TensorFlow's own declarations
    pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"shard.{name}"))


#: Raised for bytes that are not a valid message.
DecodeError: Any = message.DecodeError

_message = _declare()
Example: Any = _message("Example")
TensorProto: Any = _message("TensorProto")
