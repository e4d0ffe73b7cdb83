"""The filter of system calls for bubblewrap's `--seccomp`: refuse calls that an ordinary program does not need.

A second line of defence behind the namespaces. It closes what they and the limits leave open: memory that no limit
counts (memfd, shared segments, large socket buffers), and parts of the kernel with a history of vulnerabilities
(io_uring, bpf, keys, tracing, namespaces, socket families). Only AF_UNIX socket pairs are allowed. A refused call fails
with EPERM. On a processor that is not in the table there is no filter; the other barriers remain.
"""

import platform
from struct import pack

# name: number on x86_64, on aarch64; None if the call does not exist there
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "shmget": (29, 194),
    "socket": (41, 198),
    "ptrace": (101, 117),
    "personality": (135, 92),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "swapon": (167, 224),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "perf_event_open": (298, 241),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "finit_module": (313, 273),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "memfd_secret": (447, 447),
}
_SOCKETPAIR, _SETSOCKOPT = (53, 199), (54, 208)
_AF_UNIX, _SOL_SOCKET = 1, 1
_SIZES = (7, 8, 32, 33)  # SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in seccomp_data
_OTHER_TABLE = 0x40000000  # x32: the same calls under other numbers
_ENDS = {"allow": 0x7FFF0000, "refuse": 0x00050001, "kill": 0x80000000}

Step = tuple[int, str, str, int]  # operation, label if true, label if false, operand; "" is the next step


def program(machine: str | None = None) -> bytes:
    """Return the filter as the kernel reads it; empty for a machine that is not in the table."""
    column, arch = _MACHINES.get(machine or platform.machine(), (None, 0))
    if column is None:
        return b""
    steps: list[Step] = [(_LOAD, "", "", _ARCH), (_IF_EQUAL, "", "kill", arch), (_LOAD, "", "", _NUMBER)]
    steps.append((_IF_AT_LEAST, "refuse", "", _OTHER_TABLE))
    steps += [(_IF_EQUAL, "refuse", "", found[column] or 0) for found in _REFUSED.values() if found[column] is not None]
    steps.append((_IF_EQUAL, "socketpair", "", _SOCKETPAIR[column]))
    steps.append((_IF_EQUAL, "setsockopt", "allow", _SETSOCKOPT[column]))
    labels = {"socketpair": len(steps)}
    steps += [(_LOAD, "", "", _argument(0)), (_IF_EQUAL, "allow", "refuse", _AF_UNIX)]
    labels["setsockopt"] = len(steps)
    steps += [(_LOAD, "", "", _argument(1)), (_IF_EQUAL, "", "allow", _SOL_SOCKET), (_LOAD, "", "", _argument(2))]
    steps += [(_IF_EQUAL, "refuse", "", size) for size in _SIZES]
    for name, value in _ENDS.items():
        labels[name] = len(steps)
        steps.append((_RETURN, "", "", value))
    return b"".join(_packed(at, step, labels) for at, step in enumerate(steps))


def _argument(number: int) -> int:
    """Return the offset of an argument's lower half. Both machines are little-endian."""
    return _ARGUMENTS + 8 * number


def _packed(at: int, step: Step, labels: dict[str, int]) -> bytes:
    operation, yes, no, operand = step
    ways = [labels[name] - at - 1 if name else 0 for name in (yes, no)]
    return pack("<HBBI", operation, *ways, operand)
