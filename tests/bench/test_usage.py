"""The usage of a server includes its child processes, as `runyard serve --processes 2` has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from bench.cases.measure import Watch
from bench.servers import usage
from bench.servers.processes import Server

CHILD = "while True: pass"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"
LONG = 30.0


def test_the_work_of_a_child_counts_for_its_server() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT]) as parent:
        try:
            deadline = time.monotonic() + LONG
            while len(usage.family_cpu_ns(parent.pid)) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)  # waits on purpose: for the child
            [child] = set(usage.family_cpu_ns(parent.pid)) - {parent.pid}
            own = usage.cpu_ns(parent.pid)
            watch = Watch(Server("two", 0, parent.pid, 0.0))
            while (spent := watch.spent()[0] or 0) < 50e6 and time.monotonic() < deadline:
                time.sleep(0.01)  # waits on purpose: for the child's work
            assert spent >= 50e6
            assert own is not None
            assert (usage.cpu_ns(parent.pid) or 0) - own < spent / 2, "the parent only waits"
            rss, child_rss = usage.family_rss_mb(parent.pid), usage.rss_mb(child)
            assert rss is not None
            assert child_rss is not None
            assert rss > child_rss
        finally:
            for pid in usage.family_cpu_ns(parent.pid):
                if pid != parent.pid:
                    os.kill(pid, signal.SIGKILL)
            parent.kill()
