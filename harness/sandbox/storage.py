"""What a sandbox holds outside of its processes' memory: files in scratch space, and sockets."""

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
    """Return what is in the scratch space and the network of the sandbox whose files are at `root`.

    `scratch` are mount points, seen from inside, of file systems in memory that nothing else uses.
    """
    size, files = 0, 0
    try:
        for path in scratch:
            used = os.statvfs(f"{root}{path}")
            size += (used.f_blocks - used.f_bfree) * used.f_frsize
            files += used.f_files - used.f_ffree
        counted = re.search(r"^sockets: used (\d+)", Path(f"{root}/proc/1/net/sockstat").read_text(), re.MULTILINE)
    except (FileNotFoundError, ProcessLookupError):  # it has ended, and everything with it
        return Storage()
    return Storage(size, files, int(counted[1]) if counted else 0)
