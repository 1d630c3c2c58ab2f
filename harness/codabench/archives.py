"""Zip archives whose bytes depend on names and contents alone."""

import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from harness.errors import writing
from harness.reading import open_regular

#: Of all files: the earliest time that a zip archive can hold, and that everybody may read them.
NO_TIME, _MODE = (1980, 1, 1, 0, 0, 0), 0o100644 << 16

#: What a member is: its content, or the file that has it.
Content = bytes | Path


def write_archive(path: Path, members: Mapping[str, Content], *, packed: bool = True) -> None:
    """Write an archive, in the order of names; the same members give the same bytes. Raises `UserError`."""
    method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with writing(path), zipfile.ZipFile(path, "w", method) as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, NO_TIME)
            info.compress_type, info.external_attr, info.create_system = method, _MODE, 3
            content = members[name]
            if isinstance(content, bytes):
                archive.writestr(info, content)
                continue
            with open_regular(content, links=True) as source:
                info.file_size = os.fstat(source.fileno()).st_size  # tells the archive whether it needs 64 bits
                with archive.open(info, "w") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
