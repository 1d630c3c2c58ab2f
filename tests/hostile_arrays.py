"""Hostile arrays in HDF5 files: references to other files, enormous arrays, and types that are not plain numbers."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np

Shape = tuple[int, ...]


def write_secrets(folder: Path, shape: Shape) -> None:
    """Write the files to which hostile arrays refer, and which the harness must not read."""
    secret = np.arange(np.prod(shape), dtype="<f4").reshape(shape)
    secret.tofile(folder / "secret.bin")
    with h5py.File(folder / "secret.h5", "w") as file:
        file["kernel"] = secret


def _soft_link(group: Any, name: str, shape: Shape, folder: Path) -> None:
    group["elsewhere"] = h5py.ExternalLink(str(folder / "secret.h5"), "/")
    group[name] = h5py.SoftLink(f"{group.name}/elsewhere/kernel")


def _virtual(group: Any, name: str, shape: Shape, folder: Path) -> None:
    layout = h5py.VirtualLayout(shape, "<f4")
    layout[:] = h5py.VirtualSource(str(folder / "secret.h5"), "kernel", shape)
    group.create_virtual_dataset(name, layout)


#: Kind of array -> function that writes such an array under a name into a group.
HOSTILE = {
    "external storage": lambda group, name, shape, folder: group.create_dataset(
        name, shape, "<f4", external=[(str(folder / "secret.bin"), 0, 4 * int(np.prod(shape)))]
    ),
    "external link": lambda group, name, _, folder: group.update(
        {name: h5py.ExternalLink(str(folder / "secret.h5"), "/kernel")}
    ),
    "soft link": _soft_link,
    "virtual": _virtual,
    "references": lambda group, name, shape, _: group.create_dataset(
        name, data=np.full(shape, group.ref, dtype=h5py.ref_dtype), dtype=h5py.ref_dtype
    ),
    "never written": lambda group, name, shape, _: group.create_dataset(name, shape, "<f4"),
    "enormous": lambda group, name, *_: group.create_dataset(
        name, (10**6, 10**6), "<f4", chunks=(1000, 1000), compression="gzip"
    ),
    "group": lambda group, name, *_: group.create_group(name),
    "type": lambda group, name, *_: group.update({name: np.dtype("<f4")}),
    "packed": lambda group, name, shape, _: group.create_dataset(
        name, data=np.zeros(shape, "<f4"), compression="gzip", shuffle=True
    ),
    "chunked": lambda group, name, shape, _: group.create_dataset(name, data=np.zeros(shape, "<f4"), chunks=(2, 2)),
    "texts": lambda group, name, shape, _: group.create_dataset(
        name, data=np.full(shape, b"x" * 100, dtype=object), dtype=h5py.string_dtype()
    ),
    "integers": lambda group, name, shape, _: group.update({name: np.zeros(shape, np.int32)}),
    "not finite": lambda group, name, shape, _: group.update({name: np.full(shape, np.inf, np.float32)}),
}
