"""A filter of system calls for bubblewrap's `--seccomp`: what a program that computes never needs is refused.

A second line behind the namespaces. It closes what they and the limits leave open: memory that no limit counts (memfd,
shared segments), and corners of the kernel with a history (io_uring, bpf, keys, tracing, namespaces). A refused call
fails with EPERM. On a processor that is not in the table there is no filter; the other walls stand.
"""

import platform
from struct import pack

# name: number on x86_64, on aarch64; None where there is no such call
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "shmget": (29, 194),
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
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCH = 0, 4  # where they stand in what the kernel shows the filter
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_OTHER_TABLE = 0x40000000  # x32: the same calls under other numbers


def program(machine: str | None = None) -> bytes:
    """The filter as the kernel reads it; empty on a machine that is not in the table."""
    column, arch = _MACHINES.get(machine or platform.machine(), (None, 0))
    if column is None:
        return b""
    numbers = [found[column] for found in _REFUSED.values() if found[column] is not None]
    # the last three are: allow, refuse, kill
    body = [(_LOAD, 0, 0, _ARCH), (_IF_EQUAL, 0, len(numbers) + 4, arch), (_LOAD, 0, 0, _NUMBER)]
    body.append((_IF_AT_LEAST, len(numbers) + 1, 0, _OTHER_TABLE))
    for left, number in zip(range(len(numbers), 0, -1), numbers, strict=True):
        body.append((_IF_EQUAL, left, 0, number or 0))
    body += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _KILL)]
    return b"".join(pack("<HBBI", *instruction) for instruction in body)
