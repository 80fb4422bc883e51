"""The interpreter has all that the language can make."""

from __future__ import annotations

import re
from pathlib import Path

import tile.language
from tile.interpreter.builder import SUBJECTS
from tile.interpreter.libdevice import SYMBOLS
from tile.interpreter.registry import OPERATIONS
from tile.language.extra import libdevice

#: Ends of regions, which the interpreter calls functions for.
TERMINATORS = {"tt.reduce.return", "tt.scan.return", "tt.map_elementwise.return"}
#: Attributes.
HINTS = {
    "tt.divisibility", "tt.contiguity", "tt.constancy", "tt.prefetch", "tt.eviction",
    "tt.no_arguments",
}  # fmt: skip


def test_every_operation_of_the_language_has_a_meaning():
    folder = Path(tile.language.__file__).parent
    names = set()
    for path in folder.rglob("*.py"):
        names |= set(
            re.findall(r'"((?:arith|math|tt|ttg|gpu|llvm)\.[a-z_.0-9]+)"', path.read_text())
        )
    assert len(names) > 90
    assert names - TERMINATORS - HINTS - set(OPERATIONS) == set()
    assert len(SUBJECTS) == 11


def test_every_function_of_the_device_library_has_a_meaning():
    symbols = {s for overloads in libdevice._TABLE.values() for s, _ in overloads.values()}
    assert symbols - set(SYMBOLS) == set()
