"""The sandbox: run one Python program in bubblewrap, isolated from the host.

`sandbox.py` runs a program from start to end. `bubblewrap.py` builds the command line with namespaces and limits;
`seccomp.py` the filter of system calls; `user_ids.py` picks a user id for each program. `staging.py` prepares the
program's folder on the host and takes over its files afterwards; `supervise.py` runs inside the sandbox and sends the
files back, and `received_files.py` reads them. `processes.py` measures and kills the program's processes.
`self_test.py` checks on this machine that a program cannot get out.
"""
