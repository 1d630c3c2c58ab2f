"""The memory that a measure may use: one that needs more than is left refuses before it starts."""

import os
import re
from pathlib import Path

from baselines.core.needs import MeasureUnavailable

#: Environment variable with the limit of a call in bytes; the sandbox sets it.
LIMIT = "MEMORY_LIMIT_BYTES"

#: Lines of /proc/self/status: resident pages that count against the limit. Those of files do not.
_OWN = re.compile(r"^(?:RssAnon|RssShmem):\s+(\d+) kB", re.MULTILINE)

_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB", re.MULTILINE)


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Raise `MeasureUnavailable` if more bytes are needed than are left; where nobody knows how many, go on.

    Args:
        needed: bytes at the least.
        what: they are for.
        remedy: of the user.
    """
    left = memory_left()
    if left is not None and needed > left:
        raise MeasureUnavailable(
            f"needs {needed / 1e9:.1f} GB of memory for {what}, and {left / 1e9:.1f} GB are left: {remedy}"
        )


def memory_left() -> int | None:
    """Bytes up to the limit of the call, outside of a sandbox up to the machine's memory; None if nobody knows."""
    limit = os.environ.get(LIMIT)
    if limit is None:
        available = _AVAILABLE.search(_read("/proc/meminfo"))
        return 1024 * int(available[1]) if available else None
    return max(int(limit) - 1024 * sum(map(int, _OWN.findall(_read("/proc/self/status")))), 0)


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:  # another system, or a sandbox that does not show it
        return ""
