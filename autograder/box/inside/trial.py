"""Whether a notebook can have namespaces of its own here: the supervisor's first steps, tried once."""

import os

from autograder.box.inside import kernel


def main(user: int | None, scratch: str) -> None:
    """Print "stands", or raise what went wrong."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    kernel.gain_nothing()
    me, group = os.getuid(), os.getgid()
    kernel.unshare(kernel.NEW_USER | kernel.NEW_PID | kernel.NEW_MOUNT | kernel.NEW_IPC | kernel.NEW_UTS)
    kernel.show_memory()
    kernel.map_user(me, group)
    kernel.mount("", "/", "", kernel.RECURSIVE_PRIVATE)
    kernel.mount("tmpfs", scratch, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC, "size=1m")
    kernel.mount("tmpfs", "/proc", "tmpfs", kernel.READ_ONLY, "size=4k")
    kernel.drop_capabilities()
    print("stands")
