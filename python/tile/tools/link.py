"""``python -m triton.tools.link`` is `tile link`."""

from __future__ import annotations

import sys

from tile.cli import main as _tile


def main() -> int:
    return _tile(["link", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
