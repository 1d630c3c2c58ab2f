"""Prints the stack of the main thread shortly before the deadline of a call, whatever that thread then does.

A timer of the kernel interrupts the thread for it. `faulthandler.dump_traceback_later` would read the stack in another
thread, as the main thread changes it: about every twentieth time that ends a busy call by a segmentation fault.
"""

import ctypes
import faulthandler
import os
import signal
import sys
import time

#: The stack is printed when this share of the time is over, or, if that is later, so many seconds before its end.
SHARE, BEFORE_S = 0.9, 0.5

#: Notifies one thread by a signal (`SIGEV_THREAD_ID` of timer_create(2)).
TO_THREAD = 4


class _Notification(ctypes.Structure):
    """What a timer does: `struct sigevent`."""

    _fields_ = (
        ("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("way", ctypes.c_int), ("thread", ctypes.c_int),
        ("padding", ctypes.c_int * 11),
    )  # fmt: skip


class _Times(ctypes.Structure):
    """The interval of a timer, and when it first ends: `struct itimerspec`, each in seconds and nanoseconds."""

    _fields_ = (("interval", ctypes.c_long * 2), ("first", ctypes.c_long * 2))


class StackSample:
    """A timer of this process; there is none on systems other than Linux, and calls do without."""

    def __init__(self) -> None:
        """Create the timer in the main thread."""
        self._timer: ctypes.c_void_p | None = None
        if sys.platform == "linux":
            number = int(signal.SIGRTMAX)  # no library is known to use it
            faulthandler.register(number, file=2, all_threads=False)
            self._libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
            told = _Notification(signal=number, way=TO_THREAD, thread=os.getpid())
            if self._libc.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(told), ctypes.byref(timer)) == 0:
                self._timer = timer

    def take_before(self, deadline_s: float) -> None:
        """Print the stack before a deadline, in seconds from now."""
        self._set(max(SHARE * deadline_s, deadline_s - BEFORE_S, 0.001))

    def cancel(self) -> None:
        """Print nothing."""
        self._set(0.0)

    def _set(self, seconds: float) -> None:
        if self._timer is not None:
            whole = int(seconds)
            times = _Times(first=(ctypes.c_long * 2)(whole, int((seconds - whole) * 1e9)))
            self._libc.timer_settime(self._timer, 0, ctypes.byref(times), None)
