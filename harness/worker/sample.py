"""Prints the stack of the main thread shortly before the deadline of a call.

A timer of the kernel interrupts the main thread to print the stack. `faulthandler.dump_traceback_later` would read the
stack from another thread while the main thread changes it, which caused a segmentation fault in 5 % of busy calls.
"""

import ctypes
import faulthandler
import os
import signal
import sys
import time

#: The stack is printed after this share of the time, or this many seconds before its end, whichever is later.
SHARE, BEFORE_S = 0.9, 0.5

#: Notifies one thread by a signal (`SIGEV_THREAD_ID` of timer_create(2)).
TO_THREAD = 4


class _Notification(ctypes.Structure):
    """The signal that a timer sends: `struct sigevent`."""

    _fields_ = (
        ("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("way", ctypes.c_int), ("thread", ctypes.c_int),
        ("padding", ctypes.c_int * 11),
    )  # fmt: skip


class _Times(ctypes.Structure):
    """`struct itimerspec`: the period of a timer and the time until it first expires, in seconds and nanoseconds."""

    _fields_ = (("interval", ctypes.c_long * 2), ("first", ctypes.c_long * 2))


class StackSample:
    """A timer that prints the stack of the main thread; on systems other than Linux, its methods do nothing."""

    def __init__(self) -> None:
        """Create the timer. Only the main thread may call this."""
        self._timer: ctypes.c_void_p | None = None
        if sys.platform == "linux":
            number = int(signal.SIGRTMAX)  # a signal that no known library uses
            faulthandler.register(number, file=2, all_threads=False)
            self._libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
            told = _Notification(signal=number, way=TO_THREAD, thread=os.getpid())
            if self._libc.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(told), ctypes.byref(timer)) == 0:
                self._timer = timer

    def take_before(self, deadline_s: float) -> None:
        """Set the timer to print the stack shortly before the deadline in `deadline_s` seconds."""
        self._set(max(SHARE * deadline_s, deadline_s - BEFORE_S, 0.001))

    def cancel(self) -> None:
        """Stop the timer, so that it prints no stack."""
        self._set(0.0)

    def _set(self, seconds: float) -> None:
        if self._timer is not None:
            whole = int(seconds)
            times = _Times(first=(ctypes.c_long * 2)(whole, int((seconds - whole) * 1e9)))
            self._libc.timer_settime(self._timer, 0, ctypes.byref(times), None)
