"""Threads, and locks between them."""

import threading
from concurrent.futures import ThreadPoolExecutor

EXPECT = ("OK",)
VALUE = 285.0


def complexity(model, dataset):
    lock = threading.Lock()
    with ThreadPoolExecutor(4) as pool, lock:
        return float(sum(pool.map(lambda i: i * i, range(10))))
