"""Raises its own limits. They are hard limits, and no capability is left to raise those."""

import resource

EXPECT = ("OK",)


def complexity(model, dataset):
    for name in ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE"):
        kind = getattr(resource, name)
        soft, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or soft != hard:
            print(f"BREACH: {name} is {soft}, {hard}")
        try:
            resource.setrlimit(kind, (hard + 1, hard + 1))
            print(f"BREACH: raised {name}")
        except (ValueError, OSError):
            pass
    return 1.0
