#!/usr/bin/env python3
"""Checks that no function is longer than a reader can follow: 120 lines, head and braces included.

Looks at the C++ of lib/, include/, third_party/ and python/, and at all Python but tests.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 120
#: Comments, strings and character literals, which may hold braces.
OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
#: A digit separator is no literal.
SEPARATOR = re.compile(r"(?<=\d)'(?=\d)")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
#: What a brace opens where no function is open yet, if not a function.
SCOPE = re.compile(
    r"\s*(?:template\s*<.*>\s*)?(?:inline\s+)?(?:namespace|extern|class|struct|union|enum)\b",
    re.DOTALL,
)


def blank(match: re.Match[str]) -> str:
    """As many lines of nothing."""
    return re.sub(r"[^\n]", " ", match.group())


def is_function(head: str) -> bool:
    """Whether the brace behind `head` opens the body of a function."""
    if SCOPE.match(head) or "(" not in head:
        return False
    # An initializer: `=` outside of parentheses, which no operator is made of.
    outside = re.sub(r"\([^()]*\)", "", re.sub(r"operator\s*\W+", "operator", head))
    return not re.search(r"(?<![=!<>])=(?!=)", re.sub(r"<[^<>]*>", "", outside))


def functions_of(text: str) -> Iterator[tuple[int, int]]:
    """The first and the last line of each function of a C++ file."""
    text = OPAQUE.sub(blank, SEPARATOR.sub(" ", text))
    text = DIRECTIVE.sub(blank, text)
    depth, opened, start = 0, 0, 0
    first: int | None = None
    for match in re.finditer(r"[{};]", text):
        at, mark = match.start(), match.group()
        head = text[start:at]
        if mark == "{":
            if first is None and is_function(head):
                skipped = len(head) - len(head.lstrip())
                first, opened = text.count("\n", 0, start + skipped) + 1, depth
            depth += 1
        elif mark == "}":
            depth -= 1
            if first is not None and depth == opened:
                yield first, text.count("\n", 0, at) + 1
                first = None
        start = at + 1


def functions_of_python(text: str) -> Iterator[tuple[int, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.end_lineno or node.lineno


def main() -> int:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "lib", "include", "third_party", "python", "scripts"],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    found = 0
    for name in listed:
        path = ROOT / name
        if "/test/" in name or not path.exists():
            continue
        if path.suffix in (".cpp", ".h"):
            spans = functions_of(path.read_text())
        elif path.suffix == ".py":
            spans = functions_of_python(path.read_text())
        else:
            continue
        for first, last in spans:
            if last - first + 1 > MOST_LINES:
                found += 1
                print(
                    f"{name}:{first}: a function of {last - first + 1} lines; at most {MOST_LINES}"
                )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
