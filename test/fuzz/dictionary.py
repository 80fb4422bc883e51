"""Writes the words that the simulator's front ends know, as a C++ list for the fuzzer's mutations.

    python test/fuzz/dictionary.py lib/Simulator dictionary.inc

Mnemonics, modifiers, types and special registers are string literals of the parsers and decoders.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def words(folder: Path) -> list[str]:
    found: set[str] = set()
    for file in folder.rglob("*.cpp"):
        text = re.sub(r"^\s*(//|#include).*$", "", file.read_text(), flags=re.M)
        found.update(re.findall(r'"([.%]?[A-Za-z][A-Za-z0-9_.:]{0,40})"', text))
    return sorted(found)


def main() -> int:
    folder, out = map(Path, sys.argv[1:3])
    out.write_text("".join(f'"{word}",\n' for word in words(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
