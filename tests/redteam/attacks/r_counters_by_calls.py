"""Asks the kernel for counters of the whole machine: load, free memory, cookies of sockets, contexts of I/O."""

import ctypes
import os
import socket

EXPECT = ("OK",)
SO_COOKIE, IO_SETUP, USTAT = 57, 206, 136


def complexity(model, dataset):
    libc = ctypes.CDLL(None)
    told, context = ctypes.create_string_buffer(512), ctypes.c_ulong(0)
    if libc.sysinfo(told) == 0:
        print("BREACH: sysinfo")
    if os.uname().machine == "x86_64":
        if libc.syscall(IO_SETUP, 16, ctypes.byref(context)) == 0:
            print("BREACH: io_setup")
        if libc.syscall(USTAT, os.stat("/usr").st_dev, told) == 0:
            print("BREACH: ustat")
    try:
        with socket.socket(socket.AF_UNIX) as unconnected:
            cookie = unconnected.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8)
        print(f"BREACH: the cookie {cookie.hex()} of a socket")
    except OSError:
        pass
    return 1.0
