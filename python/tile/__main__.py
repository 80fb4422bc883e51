"""The command `tile`: `tile <tool> ...` runs `tile.tools.<tool>`."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Sequence

from tile import tools


def _tools() -> list[str]:
    names = sorted(module.name for module in pkgutil.iter_modules(tools.__path__))
    return [n for n in names if hasattr(importlib.import_module(f"tile.tools.{n}"), "main")]


def _help() -> str:
    lines = ["usage: tile <tool> [options]", "", "tools:"]
    for name in _tools():
        doc = importlib.import_module(f"tile.tools.{name}").__doc__ or ""
        lines.append(f"  {name:12} {doc.strip().splitlines()[0] if doc.strip() else ''}")
    lines += ["", "`tile <tool> --help` says more."]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool that the first argument names."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help"):
        print(_help())
        return 0 if args else 2
    name = args[0].replace("-", "_")
    if name not in _tools():
        print(
            f"tile: error: no tool '{args[0]}'; there are: {', '.join(_tools())}", file=sys.stderr
        )
        return 2
    return importlib.import_module(f"tile.tools.{name}").main(args[1:])


if __name__ == "__main__":
    sys.exit(main())
