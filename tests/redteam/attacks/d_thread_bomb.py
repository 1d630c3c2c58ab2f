"""Starts threads without end. Threads count as processes for RLIMIT_NPROC."""

import threading
import time

EXPECT = ("OK",)
ON_PLATFORM = ("MEMORY", "TIMEOUT")  # only the watch bounds the number of root's processes


def complexity(model, dataset):
    count = 0
    try:
        while count < 2000:
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            count += 1
    except RuntimeError:
        return 1.0
    print(f"BREACH: {count} threads")
    return 0.0
