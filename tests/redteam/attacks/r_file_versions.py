"""Leaves a number in the inode of a file that a later call shares, through a read-only descriptor."""

import fcntl
import struct

EXPECT = ("OK",)
EXT4_SETVERSION, FS_GETVERSION, MARK = 0x40086604, 0x80087601, struct.pack("q", 4711)


def complexity(model, dataset):
    with open(__file__, "rb") as shared:
        for request in (EXT4_SETVERSION, FS_GETVERSION):
            try:
                if fcntl.ioctl(shared, request, MARK) == MARK:
                    print(f"BREACH: {request:x}")
            except OSError:
                pass
    return 1.0
