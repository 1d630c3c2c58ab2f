"""Hoards Python objects. The memory watchdog looks from outside."""

EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow


def complexity(model, dataset):
    hoard = []
    for _ in range(2048):
        hoard.append(bytes([1]) * (1 << 20))
    print("BREACH: 2 GiB")
    return 0.0
