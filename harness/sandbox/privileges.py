"""What root may do here: in a container it often lacks the capabilities to make its workers other users."""

import os
import re
from pathlib import Path

#: Capabilities to give a file away, and to change group and user (CAP_CHOWN, CAP_SETGID, CAP_SETUID).
NEEDED = 1 << 0 | 1 << 6 | 1 << 7


def becomes_others() -> bool:
    """Whether workers are other users than the harness: it is root, and has the capabilities."""
    return os.geteuid() == 0 and _capabilities() & NEEDED == NEEDED


def _capabilities() -> int:
    """Return the effective capabilities of this process, as bits."""
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1], 16) if found else 0
