"""A pool of processes, with the semaphores and pipes that it needs."""

import multiprocessing

EXPECT = ("OK",)
UNDER_LANDLOCK = ("FORBIDDEN",)  # semaphores are files in /dev/shm, which all calls would share
VALUE = 285.0


def square(number):
    return number * number


def complexity(model, dataset):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return float(sum(pool.map(square, range(10))))
