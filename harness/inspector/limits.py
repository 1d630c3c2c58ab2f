"""Limits of a submission, and of the process that reads it."""

import resource
import sys

#: Maximum number of files of a submission; maximum of their total size in bytes.
MAX_FILES = 200
MAX_BYTES = 50 * 1024**2

#: Maximum number of files and folders, including those that are not read.
MAX_ENTRIES = 10_000

#: Maximum length of a file's path in the submission, in characters; maximum length of each part of it, in bytes.
MAX_NAME = 400
MAX_PART = 255

#: Maximum processor time in seconds; maximum address space in bytes; maximum number of open files.
CPU_S = 10
MEMORY_BYTES = 512 * 1024**2
OPEN_FILES = 512


def bound_process() -> None:
    """Set the limits of this process for good. A Mac refuses the limit of memory."""
    for kind, value in (
        (resource.RLIMIT_CPU, CPU_S),
        *([(resource.RLIMIT_AS, MEMORY_BYTES)] if sys.platform == "linux" else []),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # The soft limit of time is lower: it kills by SIGXCPU, which shows the reason.
        spare = 1 if kind == resource.RLIMIT_CPU and bounded < hard else 0
        resource.setrlimit(kind, (bounded, bounded + spare))
