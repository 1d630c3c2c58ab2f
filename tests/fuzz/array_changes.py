"""Changes of HDF5 files and of arrays of NumPy, by what is in them."""

import io
import struct
from typing import Any

import h5py
import numpy as np

from tests.fuzz.byte_changes import NUMBERS, Random, flipped


def changed_hdf5(content: bytes, chance: Random) -> bytes:
    """Change attributes, groups and arrays; the content is whole, since the library may crash on any other."""
    image = io.BytesIO(content)
    with h5py.File(image, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        for _ in range(chance.choice((1, 1, 3))):
            name = chance.choice([*names, "/"])
            if name in file:
                _change(file, name, chance)
    return image.getvalue()


def _change(file: Any, name: str, chance: Random) -> None:
    what = chance.randrange(8)
    if what <= 1 or name == "/":
        attributes = file[name].attrs
        known = [*attributes, "layer_names", "weight_names", "model_config", "layer_names0", "x"]
        attributes[chance.choice(known)] = chance.choice(_attributes(chance))
        return
    above = name.rpartition("/")[0] or "/"
    del file[name]
    if what == 2:
        links = (h5py.SoftLink("/"), h5py.SoftLink(f"/{name}"), h5py.ExternalLink("/etc/passwd", "/"))
        file[name] = chance.choice(links)
    elif what == 3:
        file[name] = file[chance.choice(("/", above))]  # a circle
    elif what == 4:
        kinds = ("<f4", ">f8", "<i8", "S10", h5py.string_dtype(), "f2", np.dtype([("a", "f4")]), "?")
        file.create_dataset(name, chance.choice(_SHAPES), chance.choice(kinds))
    elif what == 5:
        file.create_dataset(name, (10, 10), "f4", chunks=(5, 5), compression=chance.choice(("gzip", "lzf", None)))
    elif what == 6:
        file[name] = np.full((4, 4), chance.choice((np.nan, np.inf, 1e39)))
    else:
        file.create_group(name)


_SHAPES = ((), (0,), (3,), (2, 2), (10**6,), (1,) * 20)


def _attributes(chance: Random) -> list[Any]:
    numbers = np.zeros(chance.choice(_SHAPES[:4]))
    return [b"x", "é" * 3, 1.5, [1, 2], ["a"] * 100, [b"\xff"], numbers, h5py.Empty("f4"), "[" * 5000, "{}"]


def changed_array(content: bytes, chance: Random) -> bytes:
    """Change the header of an array, which is a dictionary of Python."""
    end = content.index(b"\n")
    start = "{'descr': '<f8', 'fortran_order': False, 'shape': "
    odd = (
        f"{start}({chance.choice(NUMBERS)},), }}", f"{start}(0, {2**62}), }}", f"{start}(-1,)}}", "__import__('os')",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "{}", "[" * 300, "1" * 9000,
        "{'descr': [('a', '<f8'), ('b', 'S9')], 'fortran_order': False, 'shape': (2,), }",
    )  # fmt: skip
    header = flipped(content[10 : end + 1], chance) if chance.random() < 0.4 else f"{chance.choice(odd)}\n".encode()
    return content[:8] + struct.pack("<H", len(header)) + header + content[end + 1 :]
