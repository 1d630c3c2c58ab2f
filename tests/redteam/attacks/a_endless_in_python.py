"""Calls that never end, in Python: the clock runs outside of the worker."""

import time

from attack_suite import expected


@expected("TIMEOUT", on_import=True)
def a_import_loop(model, dataset):
    """Hangs while it is imported. The clock starts before the import."""
    while True:
        time.sleep(1)


@expected("TIMEOUT")
def a_python_loop(model, dataset):
    """Never returns. The harness' wall clock ends the call."""
    while True:
        pass


class SlowError(Exception):
    def __str__(self):
        time.sleep(1000)
        return ""


@expected("TIMEOUT")
def a_slow_exception(model, dataset):
    """Raises an error whose message takes for ever. Messages are made while the clock runs, too."""
    raise SlowError


class Slow(float):
    def __float__(self):
        while True:
            pass


@expected("TIMEOUT")
def a_slow_float(model, dataset):
    """Returns a number whose conversion hangs. The clock still runs during the conversion."""
    return Slow(1.0)


@expected("TIMEOUT")
def a_swallows_everything(model, dataset):
    """Sleeps and swallows every exception. The clock is outside of the process, and SIGKILL is no exception."""
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
