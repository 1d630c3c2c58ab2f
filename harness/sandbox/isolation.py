"""What stands between a submission and this machine."""

from enum import StrEnum


class Isolation(StrEnum):
    """The kinds of sandbox; what each promises is said in docs/security.md."""

    BUBBLEWRAP = "bubblewrap"  #: namespaces, a read-only view of few files, a system-call filter
    LANDLOCK = "landlock"  #: Landlock rules and a system-call filter, where user namespaces are refused
    DOCKER = "docker"  #: a container per call, made by a Docker engine
    NONE = "none"  #: nothing: for one's own code only
