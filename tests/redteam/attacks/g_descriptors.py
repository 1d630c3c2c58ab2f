"""Opens files until it may not. RLIMIT_NOFILE bounds them."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    count = 0
    try:
        while count < 5000:
            os.open("/dev/null", os.O_RDONLY)
            count += 1
    except OSError:
        pass
    if count > 1024:
        print(f"BREACH: {count} descriptors")
    return 1.0
