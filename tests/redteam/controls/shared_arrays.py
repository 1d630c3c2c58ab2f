"""An array in shared memory that another process fills: a file in /dev/shm, without a name."""

import multiprocessing

EXPECT = ("OK",)
UNDER_LANDLOCK = ("FORBIDDEN",)  # /dev/shm is shared by all calls
VALUE = 45.0


def fill(array):
    array[:] = range(10)


def complexity(model, dataset):
    context = multiprocessing.get_context("fork")
    array = context.RawArray("d", 10)
    child = context.Process(target=fill, args=(array,))
    child.start()
    child.join()
    return sum(array)
