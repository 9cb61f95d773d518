"""How much memory a program needs."""

from __future__ import annotations

import subprocess
import sys

TWO_THREADS = ["--device", "cpu", "--threads", "2"]

# In a process of its own: a program counts the memory of what started it as its own.
MEASURE = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(child.pid, 0)
assert status == 0
print(used.ru_maxrss)
"""


def peak_memory(command):
    """Of a program [KB]; itself and its libraries take 20 MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *map(str, command)], capture_output=True, text=True, check=True
    )
    return int(done.stdout)
