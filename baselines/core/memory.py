"""Checks the available memory, so that a measure can refuse instead of running out of memory."""

import os
import re
from pathlib import Path

from baselines.core.needs import MeasureUnavailable

#: Environment variable, set by the sandbox, with the memory limit of a call in bytes.
LIMIT = "MEMORY_LIMIT_BYTES"

#: Lines of /proc/self/status with the memory that counts against the limit; mapped files do not count.
_OWN = re.compile(r"^(?:RssAnon|RssShmem):\s+(\d+) kB", re.MULTILINE)

_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB", re.MULTILINE)


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Raise `MeasureUnavailable` if fewer than `needed` bytes are available; do nothing if their number is unknown.

    The error names `what`, which would take the memory, and the `remedy`.
    """
    left = memory_left()
    if left is not None and needed > left:
        raise MeasureUnavailable(
            f"needs {needed / 1e9:.1f} GB of memory for {what}, and {left / 1e9:.1f} GB are left: {remedy}"
        )


def memory_left() -> int | None:
    """Return the bytes left below the sandbox's limit or, without a limit, on the machine; None if unknown."""
    limit = os.environ.get(LIMIT)
    if limit is None:
        available = _AVAILABLE.search(_read("/proc/meminfo"))
        return 1024 * int(available[1]) if available else None
    return max(int(limit) - 1024 * sum(map(int, _OWN.findall(_read("/proc/self/status")))), 0)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:  # another operating system, or a sandbox without /proc
        return ""
