"""What a terminal shows while something takes long."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

PROGRAM = """
import time
from tile.cli import progress
progress.DELAY = {delay}
if {bar}:
    print(sum(1 for _ in progress.track(range(4), "Counting") if time.sleep(0.1) is None))
else:
    with progress.working("Thinking"):
        time.sleep(0.4)
    print(4)
"""


def shown(bar: bool, delay: float, terminal: bool) -> str:
    """What a program writes to stderr; its result goes to stdout in every case."""
    command = [sys.executable, "-c", PROGRAM.format(bar=bar, delay=delay)]
    if not terminal:
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.stdout == "4\n"
        return done.stderr
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment
    )
    os.close(theirs)
    assert done.stdout == "4\n"
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # The end, as Linux says it.
            break
        if not part:
            break
        text += part
    os.close(ours)
    return text.decode()


@pytest.mark.parametrize("bar", [True, False])
def test_only_on_a_terminal_and_only_if_it_takes_long(bar):
    what = "Counting" if bar else "Thinking"
    assert what in shown(bar, delay=0.1, terminal=True)
    assert shown(bar, delay=60, terminal=True) == ""
    assert shown(bar, delay=0.1, terminal=False) == ""
