"""Changes of any file: bytes that are flipped, cut, repeated, inserted and exchanged."""

import random
from collections.abc import Callable

Random = random.Random

#: A change of a file's content.
Change = Callable[[bytes, Random], bytes]

#: Bytes from which a file no longer grows.
MOST = 2**22

#: Numbers at which programs go wrong.
NUMBERS = [
    0, 1, -1, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1,
]  # fmt: skip

#: Pieces of text at which parsers of any kind go wrong.
PIECES = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"', b"'", b'"""', b"'''", b"\\", b"\\u0000",
    b"{", b"}", b"[", b"]", b"[[", b",", b":", b": ", b"- ", b"? ", b"<<: *a\n", b"&a ", b"*a", b"!!binary ", b"!",
    b"!!python/object:os.system ", b"%YAML 1.1\n", b"---\n", b"...\n", b"| \n", b"# ", b"=", b".", b"-", b"+", b"/",
    b"a." * 2000, b"[" * 2000, b"{" * 2000, b"- " * 2000, b"\t" * 2000, b"1" * 5000, b"x" * 70_000, b"../" * 50, b"%s",
    b"1e999", b"nan", b"inf", b"0x1", b"2027-02-30", b"9999-12-31T23:59:60Z", b"\x1b[2J", "\u202e".encode(), b"{0}",
]  # fmt: skip


def changed(content: bytes, chance: Random) -> bytes:
    """Return the content after one of the changes."""
    return chance.choice(_CHANGES)(content, chance)


def _place(content: bytes, chance: Random) -> int:
    """A position, more often near the beginning and the end, where headers are."""
    length = len(content)
    near = min(length, 512)
    return chance.choice((chance.randint(0, length), chance.randint(0, near), length - chance.randint(0, near)))


def flipped(content: bytes, chance: Random) -> bytes:
    """Return the content with other bytes."""
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 3, 20)) if found else 0):
        place = min(_place(content, chance), len(found) - 1)
        odd = (found[place] ^ 1 << chance.randrange(8), 0, 0xFF, 0x7F, 0x80, chance.randrange(256))
        found[place] = chance.choice(odd)
    return bytes(found)


def _number(content: bytes, chance: Random) -> bytes:
    size, number, place = chance.choice((1, 2, 4, 8)), chance.choice(NUMBERS), _place(content, chance)
    stored = (number % 256**size).to_bytes(size, "little")
    return content[:place] + chance.choice((stored, stored[::-1])) + content[place + size :]


def _cut(content: bytes, chance: Random) -> bytes:
    start, end = sorted((_place(content, chance), _place(content, chance)))
    return chance.choice((content[:start], content[start:], content[:start] + content[end:]))


def _repeat(content: bytes, chance: Random) -> bytes:
    start, end = sorted((_place(content, chance), _place(content, chance)))
    times = min(chance.choice((2, 3, 100, 5000)), 1 + MOST // max(end - start, 1))
    return content[:start] + content[start:end] * times + content[end:]


def _insert(content: bytes, chance: Random) -> bytes:
    place = _place(content, chance)
    piece = chance.choice((*PIECES, chance.randbytes(chance.randint(1, 64)), bytes(4096)))
    return content[:place] + piece + content[place:]


def _exchange(content: bytes, chance: Random) -> bytes:
    a, b, c, d = sorted(_place(content, chance) for _ in range(4))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


_CHANGES: list[Change] = [flipped, flipped, _number, _number, _cut, _repeat, _insert, _exchange]
