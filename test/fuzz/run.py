"""Runs random kernels: ``python test/fuzz/run.py --seed 0 --count 1000 --jobs 2``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.cli import main

if __name__ == "__main__":
    sys.exit(main())
