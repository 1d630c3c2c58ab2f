"""Counts how many children it can have. RLIMIT_NPROC bounds them, for a caller who is root, too."""

import os

EXPECT = ("OK",)
ON_PLATFORM = ("MEMORY", "TIMEOUT")  # only the watch bounds the number of root's processes


def complexity(model, dataset):
    count = 0
    try:
        while count < 1000:
            os.posix_spawn("/bin/sleep", ["sleep", "1000"], {})
            count += 1
    except OSError:
        pass
    if count >= 1000:
        print(f"BREACH: {count} children")
    return 1.0
