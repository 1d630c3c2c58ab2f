"""Fills the scratch space below a directory that nobody may list."""

import os

EXPECT = ("OK",)
UNDER_LANDLOCK = ("OUTPUT",)  # a watched directory on the disk


def complexity(model, dataset):
    place = f"{os.environ['TMPDIR']}/hidden"
    os.mkdir(place, 0o300)
    total, chunk = 0, b"x" * (1 << 20)
    try:
        for number in range(200):
            with open(f"{place}/{number}", "wb", buffering=0) as file:
                for _ in range(32):
                    total += file.write(chunk)
    except OSError:
        pass
    if total > 256 << 20:
        print(f"BREACH: {total >> 20} MiB in a directory that cannot be listed")
    return 1.0
