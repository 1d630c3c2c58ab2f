"""Makes system calls that open much of the kernel to attack, or change the machine."""

import ctypes

EXPECT = ("OK",)
CALLS = {
    "bpf": (321, 5, ctypes.create_string_buffer(128), 128), "perf_event_open": (298, 0, 0, -1, -1, 0),
    "userfaultfd": (323, 1), "keyctl": (250, 0, -3, 1), "add_key": (248, b"user", b"x", b"x", 1, -2),
    "syslog": (103, 3, ctypes.create_string_buffer(64), 64), "personality": (135, 0x0400000),
    "init_module": (175, 0, 0, b""), "kexec_load": (246, 0, 0, 0, 0), "swapon": (167, b"/tmp/x", 0),
    "sethostname": (170, b"x", 1), "settimeofday": (164, 0, 0), "iopl": (172, 0), "ioperm": (173, 0, 1, 0),
    "quotactl": (179, 0, 0, 0, 0), "acct": (163, 0), "fanotify_init": (300, 0, 0), "memfd_secret": (447, 0),
    "landlock_create_ruleset": (444, 0, 0, 1), "adjtimex": (159, ctypes.create_string_buffer(256)),
}  # fmt: skip


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    for name, (number, *arguments) in CALLS.items():
        if libc.syscall(number, *arguments) >= 0:
            print(f"BREACH: {name}")
    return 1.0
