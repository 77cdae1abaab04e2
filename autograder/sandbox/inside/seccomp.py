"""A filter on system calls: the calls that a student's process may never make, and which of them are reported.

A classic BPF program (seccomp(2)). A refused call gives EPERM; those that say something about the intent
(a network connection, another process, a signal to somebody else) are reported to the supervisor outside, through the
kernel (SECCOMP_RET_USER_NOTIF), so no code in the process can hide them.

Calls refused by name are listed per architecture. All architectures share the numbers of calls newer than Linux 5.1,
424 and above; only a few of these that Python and glibc use are allowed, so future calls are refused as well.

Implemented here because libseccomp's bindings need its shared library, which pip cannot install.
"""

import ctypes
import errno
import fcntl
import struct

from autograder.sandbox.inside import kernel

NETWORK = "tried to open a network connection"
PROCESS = "tried to start another process"
PROGRAM = "tried to start a program"
MEMORY_OF_OTHERS = "tried to look into another process"
SIGNAL = "tried to send a signal to another process"
SANDBOX = "tried to change the sandbox itself"
PRIVILEGED = "tried a system call that is reserved for the system"
FILES = "tried to change the mode, owner, times or attributes of a file"
REPORTED = (NETWORK, PROCESS, PROGRAM, MEMORY_OF_OTHERS, SIGNAL, SANDBOX, PRIVILEGED, FILES)
QUIET = ""  # refused, and not worth a word: libraries try these too

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}.get(kernel.MACHINE, 0)
supported = kernel.MACHINE in _ARCHITECTURE


def _calls(rows: str) -> tuple[int, ...]:
    """This machine's numbers of the calls listed as "name x86_64 aarch64, …"; "-" if an architecture lacks the call."""
    numbers = (row.split()[1 + _COLUMN] for row in rows.split(","))
    return tuple(int(number) for number in numbers if number != "-")


_CALLS = {
    PROCESS: _calls("fork 57 -, vfork 58 -"),
    PROGRAM: _calls("execve 59 221, execveat 322 281"),
    MEMORY_OF_OTHERS: _calls("ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272"),
    SANDBOX: _calls(
        """
        mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, unshare 272 97, setns 308 268,
        seccomp 317 277, capset 126 91, setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143,
        setresuid 117 147, setresgid 119 149, setgroups 116 159, setfsuid 122 151, setfsgid 123 152
        """
    ),
    PRIVILEGED: _calls(
        """
        name_to_handle_at 303 264, open_by_handle_at 304 265, swapon 167 224, swapoff 168 225,
        reboot 169 142, sethostname 170 161, setdomainname 171 162, init_module 175 105,
        delete_module 176 106, finit_module 313 273, kexec_load 246 104, kexec_file_load 320 294,
        acct 163 89, syslog 103 116, quotactl 179 60, settimeofday 164 170, clock_settime 227 112,
        adjtimex 159 171, clock_adjtime 305 266, iopl 172 -, ioperm 173 -, modify_ldt 154 -, uselib 134 -,
        bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, keyctl 250 219, add_key 248 217,
        request_key 249 218, lookup_dcookie 212 18, vhangup 153 58, fanotify_init 300 262,
        personality 135 92
        """
    ),
    QUIET: _calls(
        """
        memfd_create 319 279, shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, semctl 66 191,
        msgget 68 186, msgctl 71 187, mq_open 240 180, inotify_init 253 -, inotify_init1 294 26,
        io_setup 206 0, mknod 133 -, mknodat 259 33, move_pages 279 239, migrate_pages 256 238,
        setpriority 141 140, ioprio_set 251 30, sched_setaffinity 203 122, sched_setscheduler 144 119,
        sched_setparam 142 118, sched_setattr 314 274, semop 65 193, semtimedop 220 192, msgsnd 69 189,
        msgrcv 70 188, mq_unlink 241 181, mq_timedsend 242 182, mq_timedreceive 243 183, mq_notify 244 184,
        mq_getsetattr 245 185, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242
        """
    ),
}
"""Calls refused by name. The unreported ones include memfd_create, whose memory no limit of this process counts."""
_OF_OTHERS = {
    FILES: _calls(
        """
        chmod 90 -, fchmod 91 52, fchmodat 268 53, chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54,
        utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, setxattr 188 5, lsetxattr 189 6,
        fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16, truncate 76 45
        """
    ),
}
"""Calls that Landlock does not restrict and that a notebook could apply to any of the grader's files; refused if it is
the same user and sees the same files (`shared`). fchmodat2, setxattrat and the like are newer than 424."""
_SIGNALS = _calls("kill 62 129, tgkill 234 131, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240")
_SOCKET, _SOCKETPAIR, _CLONE = _calls("socket 41 198, socketpair 53 199, clone 56 220")
_PRCTL, _FCNTL, _IOCTL = _calls("prctl 157 167, fcntl 72 25, ioctl 16 29")
_PRLIMIT, _TKILL, _SECCOMP = _calls("prlimit64 302 261, tkill 200 130, seccomp 317 277")
_OPEN = _calls("open 2 -")
_OPENAT = _calls("openat 257 56")
_FIRST_COMMON = 424
_COMMON_ALLOWED = (436, 439, 441, 449)
"""close_range, faccessat2, epoll_pwait2, futex_waitv."""
_COMMON_ALONE = (437, 452)
"""openat2 and fchmodat2, if a notebook sees only its own files."""
_CONTROLS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)
"""Of ioctl, on files of the grader's: is it a terminal, of what size, how much can be read, (no) waiting, (not) closed
on exec, and FICLONE, which needs a file that is open for writing. Not those that set attributes or seal a file."""
_STREAMS = (0x1, 0x801, 0x80001, 0x80801)
"""SOCK_STREAM, with its flags. A pair of datagram sockets could send to any address."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _NOTIFY, _KILL = 0x7FFF0000, 0x7FC00000, 0x80000000
_DENY = 0x00050000 | errno.EPERM
_UNKNOWN = 0x00050000 | errno.ENOSYS
_NUMBER, _ARCH, _ARGUMENT = 0, 4, 16
_THREAD = 0x00010000
_NAMESPACES = 0x7E020080
_NOTIF_RECEIVE, _NOTIF_SEND = 0xC0502100, 0xC0182101
_NOTIFICATION, _RESPONSE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_AF_UNIX, _INTERNET = 1, (2, 10)


def words(number: int, first_argument: int) -> str:
    """What a refused call means, for the instructor; "" if nothing."""
    if number == _SOCKET:
        return NETWORK if first_argument in _INTERNET else QUIET
    if number == _CLONE:
        return SANDBOX if first_argument & _NAMESPACES else PROCESS
    if number in (*_SIGNALS, _TKILL):
        return SIGNAL
    return next((meaning for meaning, numbers in (_CALLS | _OF_OTHERS).items() if number in numbers), QUIET)


def install(process: int, shared: bool = False) -> int | None:
    """Filter this thread, and everything that it starts, permanently; `process` is its own id. Needs
    `kernel.gain_nothing`.

    shared: it is the same user as the grader, and sees the same files. Returns the descriptor through which the
    supervisor learns of refused calls; None if the kernel has no such thing."""
    try:
        return _install(_program(process, _NOTIFY, shared), flags=8)
    except OSError:
        _install(_program(process, _DENY, shared), flags=0)
        return None


def hear(listener: int) -> str | None:
    """Answer one refused call with EPERM, and return its meaning. None if the process has ended meanwhile."""
    buffer = bytearray(_NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, _NOTIF_RECEIVE, buffer)
        ticket, _, _, number, _, _, *arguments = _NOTIFICATION.unpack(buffer)
        fcntl.ioctl(listener, _NOTIF_SEND, _RESPONSE.pack(ticket, 0, -errno.EPERM, 0))
    except OSError:
        return None
    return words(number, arguments[0])


def _install(program: bytes, flags: int) -> int:
    lines = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(lines)))
    return kernel.syscall(_SECCOMP, ctypes.c_ulong(1), ctypes.c_ulong(flags), ctypes.byref(header))


def _program(process: int, told: int, shared: bool) -> bytes:
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, _ARCHITECTURE[kernel.MACHINE]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if kernel.MACHINE == "x86_64":
        lines += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _UNKNOWN)]  # the x32 numbers

    def given(number: int, *block: tuple[int, int, int, int]) -> None:
        lines.append((_EQUAL, 0, len(block), number))
        lines.extend(block)

    def only(argument: int, allowed: tuple[int, ...], otherwise: int) -> list[tuple[int, int, int, int]]:
        tests = [(_EQUAL, len(allowed) - i, 0, value) for i, value in enumerate(allowed)]
        return [(_LOAD, 0, 0, _ARGUMENT + 8 * argument), *tests, (_RETURN, 0, 0, otherwise), (_RETURN, 0, 0, _ALLOW)]

    def never(argument: int, refused: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
        tests = [(_EQUAL, len(refused) - i, 0, value) for i, value in enumerate(refused)]
        return [(_LOAD, 0, 0, _ARGUMENT + 8 * argument), *tests, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DENY)]

    def empties(argument: int) -> list[tuple[int, int, int, int]]:
        """Before its third version, Landlock does not restrict opening a file for reading and truncating it in one
        call."""
        return [
            (_LOAD, 0, 0, _ARGUMENT + 8 * argument),
            (_ANY_BIT, 0, 4, 0x200),  # O_TRUNC
            (_AND, 0, 0, 3),
            (_EQUAL, 2, 0, 1),  # O_WRONLY
            (_EQUAL, 1, 0, 2),  # O_RDWR
            (_RETURN, 0, 0, _DENY),
            (_RETURN, 0, 0, _ALLOW),
        ]

    for meaning, numbers in (_CALLS | (_OF_OTHERS if shared else {})).items():
        for number in numbers:
            given(number, (_RETURN, 0, 0, told if meaning else _DENY))
    for number in _SIGNALS:
        given(number, *only(0, (process,), told))
    given(_TKILL, (_RETURN, 0, 0, told))
    given(_SOCKET, (_RETURN, 0, 0, told))
    given(
        _SOCKETPAIR,
        (_LOAD, 0, 0, _ARGUMENT),
        (_EQUAL, 1, 0, _AF_UNIX),
        (_RETURN, 0, 0, _DENY),
        *only(1, _STREAMS, _DENY),
    )
    given(_PRLIMIT, *only(0, (0, process), _DENY))
    given(_PRCTL, *only(0, (15, 16, 3, 0x53564D41), _DENY))  # a thread's name, PR_GET_DUMPABLE, malloc's
    # F_SETOWN, F_SETOWN_EX, F_SETSIG, F_NOTIFY: signals in disguise; F_SETLEASE: whoever opens the file waits
    given(_FCNTL, *never(1, (8, 15, 10, 1024, 1026)))
    if shared:
        given(_IOCTL, *only(1, _CONTROLS, _DENY))
        for number in _OPEN:
            given(number, *empties(1))
        for number in _OPENAT:
            given(number, *empties(2))
    else:
        given(_IOCTL, *never(1, (0x5412, 0x541C, 0x8901, 0x8902)))  # TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP
    given(
        _CLONE,
        (_LOAD, 0, 0, _ARGUMENT),
        (_ANY_BIT, 2, 0, _NAMESPACES),
        (_ANY_BIT, 0, 1, _THREAD),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, told),
    )
    common = _COMMON_ALLOWED if shared else (*_COMMON_ALLOWED, *_COMMON_ALONE)
    lines.append((_AT_LEAST, 0, len(common) + 1, _FIRST_COMMON))
    lines += [(_EQUAL, len(common) - i, 0, number) for i, number in enumerate(common)]
    lines += [(_RETURN, 0, 0, _UNKNOWN), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
