"""System calls that Python does not wrap, through the C library: namespaces, mounts, capabilities.

Source: Linux manual pages namespaces(7), mount(2), capset(2), prctl(2), syscall(2).
"""

import contextlib
import ctypes
import os
import platform

NEW_USER, NEW_PID, NEW_MOUNT, NEW_IPC, NEW_UTS = 0x10000000, 0x20000000, 0x00020000, 0x08000000, 0x04000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND = 1, 2, 4, 8, 32, 4096
RECURSIVE_PRIVATE = 0x4000 | (1 << 18)
_DEATH_SIGNAL, _SET_DUMPABLE, _DROP_BOUND, _NO_NEW_PRIVILEGES = 1, 4, 24, 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_LAST_CAPABILITY = 63
_COLLAPSE, _HUGE = 25, 1 << 21

MACHINE = platform.machine()
_libc = ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: object) -> int:
    """Any system call, by its number. Raises OSError."""
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments))


def unshare(flags: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(flags)))


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    words = [text.encode() if text else None for text in (source, target, kind)]
    _checked(_libc.mount(*words, ctypes.c_ulong(flags), data.encode() if data else None), target)


def prctl(option: int, value: int) -> int:
    zero = ctypes.c_ulong(0)
    return _checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero))


def die_with_parent() -> None:
    """SIGKILL when the parent dies."""
    prctl(_DEATH_SIGNAL, 9)


def hide_memory() -> None:
    """No process may attach to this one or open its /proc/…/mem; a later change of user or program undoes this."""
    prctl(_SET_DUMPABLE, 0)


def show_memory() -> None:
    """Undo `hide_memory`: the files under /proc/self belong to this user again."""
    prctl(_SET_DUMPABLE, 1)


def gain_nothing() -> None:
    """No set-user-id program raises privileges from now on (PR_SET_NO_NEW_PRIVS)."""
    prctl(_NO_NEW_PRIVILEGES, 1)


def drop_capabilities() -> None:
    """Give up every capability for good: bounding, effective, permitted, inheritable."""
    for capability in range(_LAST_CAPABILITY + 1):
        with contextlib.suppress(OSError):  # not one of ours, or one that this kernel does not have
            prctl(_DROP_BOUND, capability)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    syscall(_CAPSET[MACHINE], ctypes.byref(header), ctypes.byref(nothing))


def map_user(user: int, group: int) -> None:
    """Inside a new user namespace: this one user and group keep their numbers, and there are no others."""
    for name, content in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(content)


def try_namespaces(user: int | None, scratch: str) -> None:
    """The supervisor's first steps, tried once: print "stands", or raise the error."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    gain_nothing()
    me, group = os.getuid(), os.getgid()
    unshare(NEW_USER | NEW_PID | NEW_MOUNT | NEW_IPC | NEW_UTS)
    show_memory()
    map_user(me, group)
    mount("", "/", "", RECURSIVE_PRIVATE)
    mount("tmpfs", scratch, "tmpfs", NO_SUID | NO_DEVICES | NO_EXEC, "size=1m")
    mount("tmpfs", "/proc", "tmpfs", READ_ONLY, "size=4k")
    drop_capabilities()
    print("stands")


def huge_pages() -> int:
    """Gather this process's own memory in pages of 2 MB (MADV_COLLAPSE, Linux 6.1), and say how many there are.

    A fork copies one entry per page, so it copies a hundred entries for large pages instead of forty thousand for small
    ones. Memory that cannot be gathered is left unchanged, also on kernels that do not support it.
    """
    found = 0
    with open("/proc/self/maps") as file:
        lines = [line.split() for line in file]
    for line in lines:
        if "w" not in line[1] or line[5:] not in ([], ["[heap]"]):
            continue
        start, end = (int(word, 16) for word in line[0].split("-"))
        for at in range(-(-start // _HUGE) * _HUGE, end - _HUGE + 1, _HUGE):
            found += _libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(_HUGE), ctypes.c_int(_COLLAPSE)) == 0
    return found


def _checked(result: int, about: str = "") -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), *([about] if about else []))
    return int(result)
