"""Changes of archives, and of files that consist of parts with checksums: the checksums are right afterwards."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable

from harness.format.shards import _checksum
from tests.fuzz.byte_changes import NUMBERS, Random, changed, flipped

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_TYPES = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"S", b"x")


def changed_zip(content: bytes, chance: Random, change: Callable[[bytes, str, Random], bytes]) -> bytes:
    """Write an archive again, with a changed member, name or list of members; `change` is told a member's form."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = [(info, old.read(info)) for info in old.infolist()]
    image, chosen = io.BytesIO(), chance.choice(members)[0]
    with zipfile.ZipFile(image, "w") as new:
        for info, data in members:
            name, method, mode, what = info.filename, info.compress_type, 0, chance.randrange(8)
            if info is chosen and what <= 3:
                data = change(data, name.rpartition(".")[2], chance)
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
    """Write an archive again, with other kinds and names of members, or packed."""
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
    """Change what is packed."""
    return gzip.compress(flipped(gzip.decompress(content), chance))


def changed_records(content: bytes, chance: Random) -> bytes:
    """Change the payload of a record of TensorFlow, or its length."""
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
    """Change, remove or add a chunk of an image."""
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
