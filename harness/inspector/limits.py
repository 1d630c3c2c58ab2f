"""Limits of a submission, and of the process that reads it."""

import sys

#: Files of a submission, and their total bytes.
MAX_FILES = 200
MAX_BYTES = 50 * 1024**2

#: Files and folders that are examined, including ignored ones.
MAX_ENTRIES = 10_000

#: Characters of a file's path in the submission; bytes of each part of it.
MAX_NAME = 400
MAX_PART = 255

#: Processor time, address space and open files of the process.
CPU_S = 10
MEMORY_BYTES = 512 * 1024**2
OPEN_FILES = 512


if sys.platform == "win32":

    def bound_process() -> None:
        """Do nothing: there are no limits of this kind."""

else:
    import resource

    def bound_process() -> None:
        """Set the limits of this process, for good; on a Mac, which refuses one of memory, the others."""
        for kind, value in (
            (resource.RLIMIT_CPU, CPU_S),
            *([(resource.RLIMIT_AS, MEMORY_BYTES)] if sys.platform == "linux" else []),
            (resource.RLIMIT_NOFILE, OPEN_FILES),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            _, hard = resource.getrlimit(kind)
            bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
            spare = 1 if kind == resource.RLIMIT_CPU and bounded < hard else 0  # SIGXCPU first, which tells the reason
            resource.setrlimit(kind, (bounded, bounded + spare))
