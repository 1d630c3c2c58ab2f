"""Resources of a sandbox outside its processes' memory: files in scratch space, and sockets."""

import os
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Storage:
    """Sizes and counts at one moment."""

    scratch_bytes: int = 0
    scratch_files: int = 0
    sockets: int = 0


def storage_of_sandbox(root: str, scratch: tuple[str, ...]) -> Storage:
    """Return the usage of scratch space and network of the sandbox whose root directory is `root`.

    `scratch` are mount points inside the sandbox of in-memory file systems of its own.
    """
    size, files = 0, 0
    try:
        for path in scratch:
            used = os.statvfs(f"{root}{path}")
            size += (used.f_blocks - used.f_bfree) * used.f_frsize
            files += used.f_files - used.f_ffree
        counted = re.search(r"^sockets: used (\d+)", Path(f"{root}/proc/1/net/sockstat").read_text(), re.MULTILINE)
    except (FileNotFoundError, ProcessLookupError):  # the sandbox has ended
        return Storage()
    return Storage(size, files, int(counted[1]) if counted else 0)
