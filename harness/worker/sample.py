"""Prints the stack of a call's main thread shortly before its deadline, so that users see what took so long.

A timer of the kernel interrupts the main thread, which then prints its own stack. `faulthandler.dump_traceback_later`
would read the stack from another thread while the stack changes; this caused a segmentation fault in 5 % of busy calls.
"""

import ctypes
import faulthandler
import os
import signal
import sys
import time

#: The stack is printed after this fraction of the time, or this many seconds before its end, whichever is later.
SHARE, BEFORE_S = 0.9, 0.5

#: The timer sends its signal to a single thread (`SIGEV_THREAD_ID` of timer_create(2)).
TO_THREAD = 4


class _Notification(ctypes.Structure):
    """`struct sigevent`: the signal that a timer sends."""

    _fields_ = (
        ("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("way", ctypes.c_int), ("thread", ctypes.c_int),
        ("padding", ctypes.c_int * 11),
    )  # fmt: skip


class _Times(ctypes.Structure):
    """`struct itimerspec`: period of a timer, and time until it first expires, in seconds and nanoseconds."""

    _fields_ = (("interval", ctypes.c_long * 2), ("first", ctypes.c_long * 2))


class StackSample:
    """A timer that prints the stack of the main thread. Outside Linux, its methods have no effect."""

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
        """Print the stack shortly before a deadline that is `deadline_s` seconds away."""
        self._set(max(SHARE * deadline_s, deadline_s - BEFORE_S, 0.001))

    def cancel(self) -> None:
        """Stop the timer, so that it prints no stack."""
        self._set(0.0)

    def _set(self, seconds: float) -> None:
        if self._timer is not None:
            whole = int(seconds)
            times = _Times(first=(ctypes.c_long * 2)(whole, int((seconds - whole) * 1e9)))
            self._libc.timer_settime(self._timer, 0, ctypes.byref(times), None)
