#!/usr/bin/env python3
"""Checks that discardable attributes are declared and spelled once, and writes the table of them.

A dialect declares its attributes in IR/DeclaredAttributes.cpp: rows of a constant, what values it
has, where it may be, and a sentence. Each name is spelled once in C++, by its constant. A string
that begins like a name of our dialects is an error anywhere else, declared or not. Python has no
constants; a string that begins so there names a declared attribute, or an operation.

Some attributes have an owner: a type whose methods read and write them (OWNER). Nobody else names
their constants. Who calls the methods writes and reads the attributes.

With --write FILE, FILE lists the attributes, with the files that write and read them; without,
docs/generated/attributes.md must be up to date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/generated/attributes.md"
DIALECT = re.compile(r': Dialect \{\s*let name = "(\w+)"')
DECLARED = {
    name
    for top in ("include", "third_party")
    for file in (ROOT / top).rglob("*.td")
    for name in DIALECT.findall(file.read_text())
}
#: Those that TableGen declares, an alias, and those that have attributes only.
DIALECTS = sorted(DECLARED | {"ttng", "loop", "allocation", "tile"})
NAME = rf"(?:{'|'.join(DIALECTS)})\.[A-Za-z_][\w.-]*"
CONSTANT = re.compile(r'StringLiteral\s+(k\w+)\s*=\s*"([\w.-]+)"')
SPELLED = re.compile(f'"({NAME})"')
#: `tile` and `gluon` are also Python packages: modules have names like attributes of theirs.
SPELLED_IN_PYTHON = re.compile(rf"""["']((?!tile\.|gluon\.){NAME})["']""")
#: In the generated reference.
OPERATION = re.compile(r"^### `([\w.]+)`", re.MULTILINE)
ROW = re.compile(
    r'\{\s*((?:\w+::)*k\w+),\s*Is::(\w+),\s*On::(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\}', re.DOTALL
)
#: What stands before a name that is written.
WRITES = re.compile(
    r"(?:\bset\w*Attr\w*|getNamedAttr|NamedAttribute|addAttribute|\battributes\.set|\bappend|"
    r"\battachI32|\bpush_back)\s*\(\s*[^;{}]*$"
)
#: What follows it in a list of names and values.
VALUE_FOLLOWS = re.compile(r"\s*,\s*\w+\.get\w*Attr\(")
#: Its types read and write the attributes of loops.
OWNER = "lib/Analysis/LoopSchedule.cpp"
#: A method of these, with the one attribute that it is about.
METHOD = re.compile(
    r"\b(?:LoopPlan|PlannedOp)::(\w+)\([^)]*\)[^{}]*\{[^{}]*?\b(k[A-Z]\w*)\b[^{}]*\}"
)
#: Its type for a whole loop, which reads and writes all others of its attributes.
READS_SCHEDULE = re.compile(r"\bLoopSchedule::(?:read|require|isOn)\(")
WRITES_SCHEDULE = re.compile(r"\bLoopSchedule\b(?:.*)\.write\(", re.DOTALL)
#: What stands before one that a message has.
MESSAGE = re.compile(r"<<\s*(?:\w+::)*$")
#: What stands before one that is written in Python.
PYTHON_WRITES = re.compile(r"(?:set_attribute\(|set_arg_attr\w*\(|attributes\[)\s*$|:\s*$")
VALUES = {
    "Unit": "unit", "Flag": "unit or bool", "Count": "i32, not negative", "Positive": "i32 from 1",
    "PowerOfTwo": "i32, a power of two", "Integer": "integer",
    "NotNegative": "integer, not negative",
    "Facts": "positive integers", "Partitions": "i32 or array of i32",
    "PartitionLists": "arrays of i32", "Indices": "array of i32",
    "Offsets": "i32, not negative, or several",
    "String": "string", "Strings": "array of strings", "Integers": "array of integers",
    "Dictionary": "dictionary",
}  # fmt: skip

HOLDERS = {"Any": "any operation, argument or result", "Operation": "any operation"}


@dataclass
class Attribute:
    name: str
    constant: str
    value: str
    holder: str
    meaning: str
    writers: set[str] = field(default_factory=set)
    readers: set[str] = field(default_factory=set)


def sources(*suffixes: str) -> Iterator[tuple[str, str]]:
    for top in ("include", "lib", "third_party"):
        for file in sorted((ROOT / top).rglob("*")):
            name = file.relative_to(ROOT).as_posix()
            if file.suffix in suffixes and "/test/" not in name:
                yield name, file.read_text()


def find_constants() -> dict[str, list[str]]:
    """What headers call the names of our dialects."""
    constants: dict[str, list[str]] = {}
    for _, text in sources(".h"):
        for constant, spelled in CONSTANT.findall(text):
            if re.fullmatch(NAME, spelled):
                constants.setdefault(constant, []).append(spelled)
    return constants


def find_attributes() -> dict[str, Attribute]:
    """The declared attributes, by their names."""
    constants = find_constants()
    found = {}
    for name, text in sources(".cpp"):
        if not name.endswith("IR/DeclaredAttributes.cpp"):
            continue
        for constant, value, holder, meaning in ROW.findall(text):
            constant = constant.split("::")[-1]
            sentence = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', meaning))
            spelled = constants[constant][0]
            found[spelled] = Attribute(spelled, constant, value, holder, sentence)
    return found


def check_constants(attributes: dict[str, Attribute]) -> list[str]:
    """Constants that stand for two names, names with two constants, and names without a row."""
    errors = []
    spelled: dict[str, str] = {}
    for constant, names in find_constants().items():
        if len(names) > 1:
            errors.append(f"{constant} is declared more than once: {', '.join(names)}")
        for name in names:
            if (other := spelled.setdefault(name, constant)) != constant:
                errors.append(f'"{name}" is spelled twice: {other}, {constant}')
            if name not in attributes:
                errors.append(f'"{name}" ({constant}) has no row in an IR/DeclaredAttributes.cpp')
    return errors


def check_spelling(attributes: dict[str, Attribute]) -> list[str]:
    """Strings in C++ that are names of our dialects, but for the constants."""
    errors = []
    for name, text in sources(".cpp", ".h"):
        constants = [match.span(2) for match in CONSTANT.finditer(text)]
        for match in SPELLED.finditer(text):
            start = text.rfind("\n", 0, match.start()) + 1
            if "//" in text[start : match.start()]:
                continue
            if name.endswith(".h") and match.span(1) in constants:
                continue
            line = text.count("\n", 0, match.start()) + 1
            declared = attributes.get(match[1])
            advice = (
                f"write {declared.constant} instead of {match[0]}"
                if declared
                else f"{match[0]} is no declared attribute (docs/howto/add-a-pass.md)"
            )
            errors.append(f"{name}:{line}: {advice}")
    return errors


def python_sources() -> Iterator[tuple[str, str]]:
    for folder in (ROOT / "python/tile", *sorted(ROOT.glob("third_party/*/backend"))):
        for file in sorted(folder.rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), file.read_text()


def check_python(attributes: dict[str, Attribute]) -> list[str]:
    """Strings in Python that name nothing, neither a declared attribute nor an operation."""
    operations = set()
    for file in sorted((ROOT / "docs/generated").glob("*.md")):
        operations |= set(OPERATION.findall(file.read_text()))
    errors = []
    for name, text in python_sources():
        for match in SPELLED_IN_PYTHON.finditer(text):
            # A prefix of operations stands for all of them.
            if match[1] in attributes or any(o.startswith(match[1]) for o in operations):
                continue
            line = text.count("\n", 0, match.start()) + 1
            errors.append(f"{name}:{line}: {match[0]} is no declared attribute, and no operation")
    return errors


def owner_text() -> str:
    file = ROOT / OWNER
    return file.read_text() if file.exists() else ""


def owned_constants(attributes: dict[str, Attribute]) -> set[str]:
    return {a.constant for a in attributes.values()} & set(re.findall(r"\bk\w+", owner_text()))


def check_owner(attributes: dict[str, Attribute]) -> list[str]:
    """Constants of the owner that others name."""
    owned = owned_constants(attributes)
    errors = []
    for name, text in sources(".cpp", ".h"):
        # Dialects verify them, and are below the owner.
        if name == OWNER or "/IR/" in name:
            continue
        declarations = {match.start(1) for match in CONSTANT.finditer(text)}
        for match in re.finditer(r"\bk[A-Z]\w*\b", text):
            if match[0] in owned and match.start() not in declarations:
                line = text.count("\n", 0, match.start()) + 1
                errors.append(f"{name}:{line}: ask LoopSchedule.h instead of naming {match[0]}")
    return errors


def find_callers(by_constant: dict[str, Attribute], owned: set[str]) -> None:
    """Who calls the methods of the owner."""
    methods = dict(METHOD.findall(owner_text()))
    schedule = [by_constant[constant] for constant in owned - set(methods.values())]
    for name, text in sources(".cpp", ".h"):
        if name == OWNER:
            continue
        for attribute in schedule:
            if READS_SCHEDULE.search(text):
                attribute.readers.add(name)
            if WRITES_SCHEDULE.search(text):
                attribute.writers.add(name)
        for match in re.finditer(r"\.(\w+)\(", text):
            if attribute := by_constant.get(methods.get(match[1], "")):
                writes = match[1].startswith("set")
                (attribute.writers if writes else attribute.readers).add(name)


def find_users(attributes: dict[str, Attribute]) -> None:
    by_constant = {a.constant: a for a in attributes.values()}
    owned = owned_constants(attributes)
    find_callers(by_constant, owned)
    for name, text in sources(".cpp", ".h"):
        if name.endswith(("IR/DeclaredAttributes.cpp", "AttributeNames.h")):
            continue
        declarations = [match.span() for match in CONSTANT.finditer(text)]
        for match in re.finditer(r"\bk[A-Z]\w*\b", text):
            attribute = by_constant.get(match[0])
            if attribute is None or any(s <= match.start() < e for s, e in declarations):
                continue
            if name == OWNER and attribute.constant in owned:
                continue
            before = text[max(0, match.start() - 160) : match.start()]
            if MESSAGE.search(before):
                continue
            writes = WRITES.search(before) or VALUE_FOLLOWS.match(text, match.end())
            (attribute.writers if writes else attribute.readers).add(name)
    for name, text in python_sources():
        for match in SPELLED_IN_PYTHON.finditer(text):
            if attribute := attributes.get(match[1]):
                before, after = text[: match.start()], text[match.end() :]
                writes = PYTHON_WRITES.search(before) or after.startswith((":", "]"))
                (attribute.writers if writes else attribute.readers).add(name)


def short(files: set[str], everywhere: set[str]) -> str:
    """The files by their names, and by more of their paths where others have the same name."""
    names = [Path(file).name for file in everywhere]

    def shorten(file: str) -> str:
        name = Path(file).name
        return name if names.count(name) == 1 else "/".join(file.split("/")[-3:])

    return ", ".join(f"`{shorten(file)}`" for file in sorted(files))


def page(attributes: dict[str, Attribute]) -> str:
    lines = [
        "<!-- Made by scripts/check_attributes.py. -->",
        "# Discardable attributes",
        "",
        "What front ends, passes and launchers tell each other. The dialect in front of the dot "
        "verifies",
        "values and places. `loop`, `allocation` and `tile` are dialects of attributes only.",
    ]
    users = {file for a in attributes.values() for file in a.writers | a.readers}
    for dialect in dict.fromkeys(name.split(".")[0] for name in sorted(attributes)):
        lines += ["", f"## `{dialect}`", ""]
        lines += ["| attribute | on | value | meaning | written by | read by |"]
        lines += ["|---|---|---|---|---|---|"]
        for name, a in sorted(attributes.items()):
            if name.split(".")[0] != dialect:
                continue
            holder = HOLDERS.get(a.holder, a.holder.lower())
            lines.append(
                f"| `{name}` | {holder} | {VALUES[a.value]} | {a.meaning} | "
                f"{short(a.writers, users) or 'users'} | {short(a.readers, users) or 'nobody'} |"
            )
    return "\n".join(lines) + "\n"


def main() -> int:
    attributes = find_attributes()
    errors = check_constants(attributes)
    errors += check_spelling(attributes)
    errors += check_python(attributes)
    errors += check_owner(attributes)
    find_users(attributes)
    text = page(attributes)
    if sys.argv[1:2] == ["--write"]:
        Path(sys.argv[2]).write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        errors.append(f"{PAGE.relative_to(ROOT)} is not up to date: run make docs")
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
