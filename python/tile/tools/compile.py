"""``python -m triton.tools.compile`` is `tile compile`."""

from __future__ import annotations

import sys

from tile.cli import main as _tile


def main() -> int:
    return _tile(["compile", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
