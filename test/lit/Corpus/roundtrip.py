"""Checks that tile-opt reads a module and prints what it read.

usage: roundtrip.py FILE

The modules here were printed by another compiler of the same IR. Each of them has to parse and
verify. What is printed has to read back as itself, in the custom and the generic form, with and
without locations. What is printed has to be the very text of the file. What differs is the prefix
of the NVIDIA dialect, what it says of waits for stores, and the names of values. The names of the
arguments of loops come from locations that the text does not hold.
"""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
from pathlib import Path

FORMS = [
    [],
    ["--mlir-print-debuginfo"],
    ["--mlir-print-op-generic"],
    ["--mlir-print-op-generic", "--mlir-print-debuginfo"],
]
AS_IN_FILE = ["--mlir-print-debuginfo", "--mlir-use-nameloc-as-prefix"]


def run(text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Runs tile-opt on a module."""
    return subprocess.run(
        ["tile-opt", *flags], input=text, capture_output=True, text=True, check=False
    )


def print_as(text: str, *flags: str) -> str:
    """What tile-opt prints for a module that it has to accept."""
    result = run(text, *flags)
    if result.returncode != 0:
        sys.exit(f"tile-opt {' '.join(flags)} failed:\n{result.stderr}")
    return result.stdout


VALUE = re.compile(r"%[\w$.-]+")


def number_values(text: str) -> str:
    """The text with values named by the order of their definitions."""
    numbers: dict[str, int] = {}
    defined = 0

    def define(match: re.Match[str]) -> str:
        nonlocal defined
        defined += 1
        numbers[match[0]] = defined
        return f"%v{defined}"

    def use(match: re.Match[str]) -> str:
        return f"%v{numbers[match[0]]}" if match[0] in numbers else match[0]

    def rename(line: str) -> str:
        # Operands of an operation come after its results, but a loop defines the
        # arguments that its operands start: `iter_args(%arg = %init)`.
        results, equals, rest = line.partition(" = ")
        if not results.lstrip().startswith("%"):
            results, equals, rest = "", "", line
        out, at = [], 0
        pending: list[tuple[int, re.Match[str]]] = []
        for match in VALUE.finditer(rest):
            out.append(rest[at : match.start()])
            is_definition = rest.startswith((" = ", ": "), match.end())
            pending.append((len(out), match))
            out.append("" if is_definition else use(match))
            if not is_definition:
                pending.pop()
            at = match.end()
        out.append(rest[at:])
        results = VALUE.sub(define, results)
        for index, match in pending:
            out[index] = define(match)
        return results + equals + "".join(out)

    return "\n".join(rename(line.rstrip()) for line in text.rstrip().splitlines())


def expect_same(expected: str, found: str, what: str) -> None:
    """Fails with the difference between two texts, if there is one."""
    if expected.rstrip() == found.rstrip():
        return
    diff = difflib.unified_diff(
        expected.splitlines(), found.splitlines(), "expected", "found", lineterm="", n=0
    )
    sys.exit("\n".join([what, *list(diff)[:60]]))


def as_read(text: str) -> str:
    """The text in tile's words. The other compiler has a wait for complete stores by default."""
    text = text.replace("ttng.async_tma_store_wait {", "ttng.async_tma_store_wait {complete, ")
    return text.replace("ttng.", "ttnvgpu.")


def main() -> None:
    path = Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    print_as(text, "--verify-roundtrip")
    for form in FORMS:
        once = print_as(text, *form)
        expect_same(once, print_as(once, *form), f"not stable under {form}")
    plain = print_as(text)
    generic = print_as(text, "--mlir-print-op-generic")
    expect_same(plain, print_as(generic), "the generic form lost something")
    expect_same(
        number_values(as_read(text)),
        number_values(print_as(text, *AS_IN_FILE)),
        "not the text of the file",
    )


if __name__ == "__main__":
    main()
