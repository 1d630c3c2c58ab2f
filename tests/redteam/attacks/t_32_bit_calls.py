"""Makes a system call by the 32-bit interface, whose numbers differ. That kills the process."""

import ctypes
import mmap
import os
import platform

EXPECT = ("CRASH",)
CODE = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"  # mov eax, 20 (getpid); int 0x80; ret


def complexity(model, dataset):
    if platform.machine() != "x86_64":
        os._exit(0)
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    memory = mmap.mmap(-1, 4096, private, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(CODE)
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
    print("BREACH: int 0x80")
    return 0.0
