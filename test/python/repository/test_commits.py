"""scripts/check_commits.py refuses subjects of commits that are long or no imperative."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts/check_commits.py"
spec = importlib.util.spec_from_file_location("check_commits", SCRIPT)
check_commits = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_commits)

GOOD = [
    "Refuse negative strides",
    "Pass tests on GPUs that have no tensor cores",
    "Need one barrier less",
    "Bring the cache along",
    "X" + "y" * 10 + " " + "z" * 60,
    'Revert "Pass tests on GPUs that have no tensor cores and more than seventy characters"',
    "Merge branch 'x'",
]
BAD = {
    "Refused negative strides": "no imperative",
    "Refusing negative strides": "no imperative",
    "Refuses negative strides": "no imperative",
    "Buffers live while they are copied": "no imperative",
    "The cache is kept": "no imperative",
    "Two more tests": "no imperative",
    "refuse negative strides": "does not begin with a verb",
    "fuzz: refuse negative strides": "does not begin with a verb",
    "Layout: refuse negative strides": "does not begin with a verb",
    "Refuse negative strides.": "full stop",
    "Refuse " + "x" * 66: "has 73 characters",
    "": "does not begin with a verb",
}


@pytest.mark.parametrize("subject", GOOD)
def test_subjects_that_are_right(subject):
    assert check_commits.what_is_wrong(subject) is None


@pytest.mark.parametrize("subject", BAD)
def test_subjects_that_are_refused(subject):
    assert BAD[subject] in check_commits.what_is_wrong(subject)


def test_the_hook_reads_a_message(tmp_path):
    message = tmp_path / "message"
    for text, status in [("Add x\n\nWhy.\n", 0), ("# A comment.\nAdded x\n", 1)]:
        message.write_text(text)
        done = subprocess.run(
            [sys.executable, SCRIPT, "--message", message], capture_output=True, text=True
        )
        assert done.returncode == status
        assert ("no imperative" in done.stderr) == bool(status)
