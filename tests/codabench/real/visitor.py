"""A visitor without an account, who requests everything from a site."""

import re
import zipfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

import requests

#: Largest number that is tried in addresses.
NUMBERS = 40


def visit(
    site: str, urls: Iterable[str], tasks: Path, hidden: str, secrets: Iterable[str]
) -> tuple[list[str], int, str]:
    """Request every address of a site, and follow every address and key in the answers.

    Args:
        site: its address.
        urls: patterns of its addresses, with `<...>` for numbers.
        tasks: directory of tasks.
        hidden: name of the hidden task.
        secrets: tokens of the accounts.

    Returns:
        Where secrets were found, the number of public files that were found, and a summary in words.
    """
    files = [file for file in tasks.rglob("*") if file.is_file()]
    public = {file.read_bytes() for file in files if hidden not in file.parts}
    secret = {file.read_bytes() for file in files if hidden in file.parts} - public
    words = [hidden.encode(), *(one.encode() for one in secrets)]
    urls = [url for url in urls if "format" not in url and not url.startswith("/admin/")]
    waiting = {site + re.sub("<[^>]*>", str(number), url) for url in urls for number in range(1, NUMBERS)}
    asked, answered, reached, found = set[str](), 0, set[bytes](), list[str]()
    while waiting:
        url = waiting.pop()
        answer = requests.get(url, timeout=600)
        asked.add(url.split("?")[0])
        answered += answer.ok
        for name, data in [("", answer.content), *members_of(answer.content)]:
            reached |= {data} & public
            if data in secret or any(word in data + name.encode() for word in words):
                found.append(f"{url} {name}")
        keys = re.findall(r"\b\w{8}(?:-\w{4}){3}-\w{12}\b", answer.text)
        more = [f"{site}/datasets/download/{key}/" for key in keys]
        more += re.findall(r'"(http://127[^"]*)"', answer.text)
        waiting |= {url for url in more if url.split("?")[0] not in asked}
    return found, len(reached), f"{len(urls)} patterns, {len(asked)} addresses asked, {answered} answered"


def members_of(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files in an archive, and in archives within it; yield nothing for another file."""
    if zipfile.is_zipfile(BytesIO(data)):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
                yield from members_of(archive.read(name))
