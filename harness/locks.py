"""Locks of open files, which the system releases when their process ends, however that happens."""

import errno
import sys
import time

#: Seconds between two attempts where the system cannot wait for a lock.
PAUSE_S = 0.02

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock an open file unless another process has; returns whether it is locked now."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EBADF, errno.EINVAL):
                raise
            return False
        return True

    def lock(descriptor: int) -> None:
        """Wait for the lock of an open file."""
        while not try_lock(descriptor):
            time.sleep(PAUSE_S)

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock an open file unless another process has; returns whether it is locked now.

        Raises `OSError` if the file system has no locks.
        """
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def lock(descriptor: int) -> None:
        """Wait for the lock of an open file; raises `OSError` if the file system has no locks."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)
