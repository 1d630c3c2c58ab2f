"""Changes of archives, records, images, HDF5 files and arrays that keep their form and checksums valid."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from contextlib import suppress
from typing import Any

import h5py
import numpy as np

from harness.format.shards import _checksum
from tests.fuzz.changes import (
    MOST,
    NUMBERS,
    Change,
    Random,
    changed,
    changed_database,
    changed_json,
    changed_json_line,
    changed_text,
    flipped,
)


def changed_hdf5(content: bytes, chance: Random) -> bytes:
    """Change attributes, groups and arrays of a complete HDF5 file; the library may crash on an incomplete file."""
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


_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_TYPES = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"S", b"x")


def changed_zip(content: bytes, chance: Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = [(info, old.read(info)) for info in old.infolist()]
    image, chosen = io.BytesIO(), chance.choice(members)[0]
    with zipfile.ZipFile(image, "w") as new:
        for info, data in members:
            name, method, mode, what = info.filename, info.compress_type, 0, chance.randrange(8)
            if info is chosen and what <= 3:
                data = mutated(data, name.rpartition(".")[2], chance)
            elif info is chosen and what == 4:
                odd = ("../" + name, "/" + name, name + "/", "a" * 70 + name, "\x1b" + name, "con", "a/" * 99 + name)
                name, mode = chance.choice(odd), chance.choice((0, 0o120777 << 16, 0o010644 << 16))
            elif info is chosen and what == 5:
                method = chance.choice(_METHODS)
            elif info is chosen and what == 6:
                data = bytes(2**21)
            elif info is chosen:
                continue
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode
            new.writestr(entry, data, method)
    found = image.getvalue()
    start = found.rfind(b"PK\1\2")
    return found if chance.random() < 0.7 else found[:start] + flipped(found[start:], chance)


def changed_tar(content: bytes, chance: Random) -> bytes:
    image = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(content)) as old,
        tarfile.open(fileobj=image, mode=chance.choice(("w", "w:gz", "w:bz2", "w:xz"))) as new,
    ):
        for member in old:
            data = old.extractfile(member)
            if chance.random() < 0.2:
                member.type, member.linkname, data = chance.choice(_TYPES), "../../etc/passwd", None
            elif chance.random() < 0.2:
                member.name = chance.choice(("../x", "/x", "x" * 300, "\x1b", member.name + "/x", "."))
            new.addfile(member, data if member.size else None)
    return image.getvalue() if chance.random() < 0.6 else flipped(image.getvalue(), chance)


def changed_gzip(content: bytes, chance: Random) -> bytes:
    return gzip.compress(flipped(gzip.decompress(content), chance))


def changed_records(content: bytes, chance: Random) -> bytes:
    payloads, start = [], 0
    while start + 16 <= len(content) and len(payloads) < 100:
        (length,) = struct.unpack_from("<Q", content, start)
        payloads.append(content[start + 12 : start + 12 + length])
        start += 16 + length
    place = chance.randrange(len(payloads))
    payloads[place] = changed(payloads[place], chance)
    found = b""
    for payload in payloads:
        length = chance.choice(NUMBERS) % 2**64 if chance.random() < 0.05 else len(payload)
        for part in (struct.pack("<Q", length), payload):
            found += part + struct.pack("<I", _checksum(part))
    return found


def changed_png(content: bytes, chance: Random) -> bytes:
    chunks, start = [], 8
    while start + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, start)
        chunks.append((content[start + 4 : start + 8], content[start + 8 : start + 8 + length]))
        start += 12 + length
    bomb = zlib.compress(bytes(2**24), 9)
    added = [
        (b"zTXt", b"a\0\0" + bomb), (b"iCCP", b"a\0\0" + bomb), (b"iTXt", b"a\0\1\0\0\0" + bomb), (b"IDAT", bomb),
        (b"tRNS", b"\0" * 7), (b"PLTE", b"\0" * 1000), (b"acTL", b"\xff" * 8), (b"eXIf", b"MM\0*" + b"\xff" * 60),
        (b"gAMA", b""),
    ]  # fmt: skip
    place = chance.randrange(len(chunks))
    kind, data = chunks[place]
    other = [(kind, changed(data, chance))]
    chunks[place : place + 1] = chance.choice((other, other, [(kind, data), chance.choice(added)], []))
    parts = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return content[:8] + b"".join(parts)


#: Forms of which only whole files are changed by a library, as it may crash on others.
_ONCE = ("h5", "hdf5", "keras")


def mutated(content: bytes, form: str, chance: Random) -> bytes:
    """Return changed content for a file with the suffix `form`; sometimes the content has another form."""
    suitable = _FORMS.get(form)
    for number in range(chance.choice((1, 1, 1, 2, 5))):
        if suitable is not None and chance.random() < 0.75 and not (number and form in _ONCE):
            with suppress(Exception):  # content without the form
                content = suitable(content, chance)
        else:
            content = changed(content, chance)
    return content[: 4 * MOST]


_FORMS: dict[str, Change] = {
    "json": changed_json, "predict": changed_json, "jsonl": changed_json_line, "yaml": changed_text,
    "metadata": changed_text, "toml": changed_text, "csv": changed_text, "py": changed_text, "html": changed_text,
    "zip": changed_zip, "npz": changed_zip, "keras": changed_zip, "pt2": changed_zip, "tar": changed_tar,
    "gz": changed_gzip,
    "tfrecord": changed_records, "h5": changed_hdf5, "hdf5": changed_hdf5, "npy": changed_array, "png": changed_png,
    "db": changed_database,
}  # fmt: skip
