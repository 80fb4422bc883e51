"""A seed stands for one program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TEST = Path(__file__).resolve().parents[2]


def test_a_seed_is_one_program_whatever_is_imported_first():
    code = (
        "import sys; sys.path.insert(0, {path!r}); import fuzz.{first}\n"
        "from fuzz.generator import generate\n"
        "print([generate(seed).source for seed in range(5060, 5064)])"
    )
    programs = {
        subprocess.run(
            [sys.executable, "-c", code.format(path=str(TEST), first=first)],
            check=True, capture_output=True, text=True,
        ).stdout
        for first in ("generator", "runner", "warps")
    }  # fmt: skip
    assert len(programs) == 1
