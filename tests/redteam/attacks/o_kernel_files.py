"""Opens the kernel's memory, logs and switches, and raw devices."""

import os

EXPECT = ("OK",)
READ = (
    "/proc/kcore", "/proc/kmsg", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/kvm", "/dev/fuse",
    "/proc/1/root/etc/shadow", "/sys/kernel",
)  # fmt: skip
WRITE = (
    "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches",
    "/proc/sys/user/max_user_namespaces", "/proc/sys/fs/binfmt_misc/register", "/proc/self/uid_map",
)  # fmt: skip


def complexity(model, dataset):
    for paths, way in ((READ, os.O_RDONLY), (WRITE, os.O_WRONLY)):
        for path in paths:
            try:
                os.close(os.open(path, way))
            except OSError:
                continue
            if path == "/proc/self/uid_map":
                try:
                    with open(path, "w") as file:
                        file.write("0 0 1")
                except OSError:
                    continue
            print(f"BREACH: opened {path}")
    return 1.0
