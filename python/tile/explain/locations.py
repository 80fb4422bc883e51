"""Which lines of the source each line of a stage's text comes from."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

#: A file and a line.
Line = tuple[str, int]
#: For each line of a text, the innermost source line first, then those of the callers.
Lines = list[list[Line]]

_ALIAS = re.compile(r"^(#loc\w*) = loc\((.*)\)$", re.M)
_PLACE = re.compile(r'"([^"]+)":(\d+):\d+|(#loc\w*)')


def places_of(text: str, aliases: dict[str, list[Line]] | None = None) -> list[Line]:
    """The places that the text of an MLIR location names."""
    found: list[Line] = []
    for file, line, alias in _PLACE.findall(text):
        more = (aliases or {}).get(alias, []) if alias else [(file, int(line))]
        found += [place for place in more if place not in found]
    return found


def of_mlir(text: str) -> Lines:
    """Of MLIR that was printed with its locations."""
    written = dict(_ALIAS.findall(text))
    aliases: dict[str, list[Line]] = {}

    def resolve(name: str) -> list[Line]:
        if name not in aliases:
            aliases[name] = []  # Aliases have no cycles; a broken text may.
            expression = written.get(name, "")
            for inner in re.findall(r"#loc\w*", expression):
                resolve(inner)
            aliases[name] = places_of(expression, aliases)
        return aliases[name]

    for name in written:
        resolve(name)
    lines: Lines = []
    for line in text.splitlines():
        # The last location is the operation's; those before are of its arguments.
        at = -1 if line.startswith("#loc") else line.rfind(" loc(")
        lines.append(places_of(line[at:], aliases) if at >= 0 else [])
    return lines


_METADATA = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$", re.M)


def of_llvm(text: str) -> Lines:
    """Of LLVM IR, by its debug metadata."""
    nodes: dict[str, tuple[str, dict[str, str]]] = {}
    for number, kind, body in _METADATA.findall(text):
        nodes[number] = (kind, dict(re.findall(r"(\w+): (\"[^\"]*\"|[^,]+)", body)))

    def file_of(scope: str) -> str:
        for _ in range(len(nodes)):
            kind, fields = nodes.get(scope, ("", {}))
            if kind == "DIFile":
                folder = fields.get("directory", "").strip('"')
                return os.path.join(folder, fields.get("filename", "").strip('"'))
            scope = fields.get("file", fields.get("scope", "")).lstrip("!")
        return ""

    def resolve(number: str) -> list[Line]:
        found: list[Line] = []
        while number in nodes:
            _, fields = nodes[number]
            if "line" in fields:
                place = (file_of(fields.get("scope", "").lstrip("!")), int(fields["line"]))
                found += [place] if place[1] and place not in found else []
            number = fields.get("inlinedAt", "").lstrip("!")
        return found

    lines: Lines = []
    for line in text.splitlines():
        at = re.search(r"!dbg !(\d+)", line)
        lines.append(resolve(at[1]) if at and not line.startswith("define") else [])
    return lines


_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"', re.M)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+")
#: PTX names the call in the directive; other assembly has it in the comment behind it only.
_CALL = re.compile(r"inlined_at\s+(\d+)\s+(\d+)")
_CALL_IN_COMMENT = re.compile(r"@\[ (\S+?):(\d+):\d+")


def of_assembly(text: str) -> Lines:
    """Of assembly with `.loc`: the lines behind a directive come from its place."""
    files = {number: os.path.join(folder, name) for number, folder, name in _FILE.findall(text)}
    by_name = {os.path.basename(path): path for path in files.values()}
    lines: Lines = []
    current: list[Line] = []
    for line in text.splitlines():
        at = _LOC.match(line)
        if at:
            current = [(files.get(at[1], "?"), int(at[2]))] if at[2] != "0" else []
            calls = [(files.get(f, "?"), int(n)) for f, n in _CALL.findall(line)]
            calls += [
                (by_name.get(os.path.basename(f), f), int(n))
                for f, n in _CALL_IN_COMMENT.findall(line)
            ]
            current += [call for call in dict.fromkeys(calls) if call not in current]
        code = line.split("//")[0].strip()
        plain = code and not code.startswith(".") and not code.endswith(":") and code not in "{}"
        lines.append(current if plain and not at else [])
    return lines


_SASS_LINE = re.compile(r'//## File "([^"]+)", line (\d+)(?: inlined at "([^"]+)", line (\d+))?')


def of_machine_code(text: str) -> Lines:
    """Of what a disassembler prints, with the places in comments before the instructions."""
    lines: Lines = []
    current: list[Line] = []
    after_code = True
    for line in text.splitlines():
        at = _SASS_LINE.search(line)
        if at:
            current = [] if after_code else current
            places = [(at[1], int(at[2]))] + ([(at[3], int(at[4]))] if at[3] else [])
            current = current + [place for place in places if place not in current]
        after_code = not at
        lines.append(current if not at and line.strip().startswith("/*") else [])
    return lines


def reader_of(stage: str, is_module: bool) -> Callable[[str], Lines]:
    """How to read the text of a stage."""
    if is_module:
        return of_mlir
    return of_llvm if stage == "llir" else of_assembly
