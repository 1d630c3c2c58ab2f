"""Reads the architecture in a whole model as HDF5, which Keras 2 and Keras 3 write as `model.save("model.h5")`."""

from pathlib import Path
from typing import Any

import h5py

from harness.errors import UserError
from harness.format.architecture import MAX_CONFIG_BYTES
from harness.format.files import parse_json
from harness.format.hdf5 import names, open_hdf5
from harness.format.writer import VERSION
from harness.reading import open_regular

_ATTRIBUTE = "model_config"

#: Most bytes of a version.
_MAX_VERSION = 256


def read_whole_model_config(path: Path) -> dict[str, Any]:
    """Return the architecture in Keras' own JSON, with the version of Keras if the file states it.

    Raises:
        UserError: there is no architecture, or the file is damaged.
    """
    with open_regular(path, links=True) as stream, open_hdf5(stream, path) as file:
        if _ATTRIBUTE not in file.attrs:
            remedy = "name the architecture in the column `file` and these weights in `weights`"
            raise UserError("not a whole model", file=path, expected=f"an attribute {_ATTRIBUTE}", found="none",
                            remedy=remedy)  # fmt: skip
        stored = file.attrs.get_id(_ATTRIBUTE)
        if stored.shape != () or h5py.check_string_dtype(stored.dtype) is None:
            raise UserError(_ATTRIBUTE, file=path, expected="text", found=f"{stored.dtype}, shape {stored.shape}")
        if stored.dtype.itemsize > MAX_CONFIG_BYTES:
            found = f"{stored.dtype.itemsize} bytes"
            raise UserError(_ATTRIBUTE, file=path, expected=f"at most {MAX_CONFIG_BYTES} bytes", found=found)
        content = parse_json(file.attrs[_ATTRIBUTE], path)
        versions = names(file, VERSION, _MAX_VERSION) if VERSION in file.attrs else []
        return {VERSION: versions[0]} | content if versions else content
