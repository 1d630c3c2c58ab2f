"""Makes links to files outside, and follows them."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    scratch = os.environ["TMPDIR"]
    for number, path in enumerate(("@TASK@/single/model_0/config.json", "../../../../@TASK@", "/proc/1/root/@TASK@")):
        for make in (os.symlink, os.link):
            try:
                make(path, f"{scratch}/link{number}")
                os.close(os.open(f"{scratch}/link{number}", os.O_RDONLY))
                print(f"BREACH: {path}")
            except OSError:
                pass
    return 1.0
