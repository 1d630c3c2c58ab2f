"""Mounts, remounts writable, unmounts, changes the root, by the old calls and the new ones."""

import ctypes

EXPECT = ("OK",)
MS_REMOUNT, MS_BIND = 32, 4096


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    calls = {
        "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "remount": lambda: libc.mount(None, b"/usr", None, MS_REMOUNT | MS_BIND, None),
        "umount": lambda: libc.umount2(b"/job/submission", 2),
        "pivot_root": lambda: libc.syscall(155, b"/tmp", b"/tmp"),
        "chroot": lambda: libc.chroot(b"/tmp"),
        "fsopen": lambda: libc.syscall(430, b"tmpfs", 0),
        "open_tree": lambda: libc.syscall(428, -100, b"/usr", 1),
        "mount_setattr": lambda: libc.syscall(442, -100, b"/usr", 0, (ctypes.c_uint64 * 4)(0, 1, 0, 0), 32),
    }
    for name, call in calls.items():
        if call() >= 0:
            print(f"BREACH: {name}")
    return 1.0
