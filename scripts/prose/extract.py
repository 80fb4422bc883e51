"""Takes the prose out of pages and sources: text, comments and docstrings, without code.

A file becomes paragraphs. A paragraph is a list of lines, each with its number in the file. Code
between backticks or quotation marks becomes one word, so that sentences keep their shape.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path

#: A line of prose and its number in the file.
Line = tuple[int, str]
Paragraph = list[Line]

_QUOTED = re.compile(r'``[^`]+``|`[^`\n]+`|"[^"\n]*"|\'[^\'\s]\'')
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_URL = re.compile(r"https?://\S+")
#: The start of something that is a paragraph of its own.
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
#: A row of a table in a comment: a name, and behind a gap what it is.
_ROW = re.compile(r"^\s*\S+ {2,}(?=\S)")
#: Lines without a word.
_RULE = re.compile(r"^[\s=\-+*/#|:~^.]*$")


def _word_for(code: re.Match[str]) -> str:
    """Stands for code in a sentence. Other code has another word: nothing looks repeated."""
    number = sum(map(ord, code[0])) * 31 + len(code[0])
    return "Code" + "".join(chr(ord("a") + number // 26**i % 26) for i in range(3))


def is_code(word: str) -> bool:
    return re.fullmatch("Code[a-z]{3}", word) is not None


def _plain(text: str) -> str:
    """A line without markup and code."""
    text = _URL.sub(_word_for, text)
    text = _QUOTED.sub(_word_for, text)
    text = _LINK.sub(r"\1", text)
    text = re.sub(r"\\[pca] \S+", _word_for, text)
    text = text.replace("**", "").replace("``", "")
    # A quotation mark that is left over would hide the rest of the text from proselint.
    return re.sub(r"\B'|'\B|\"", " ", text)


def _paragraphs(lines: Iterable[Line], indent: int = 4) -> list[Paragraph]:
    """Divides lines at empty ones, at items of lists, and at code, which begins a paragraph with
    `indent` spaces."""
    is_code_line = re.compile(rf"^ {{{indent},}}\S")
    found: list[Paragraph] = [[]]
    is_fenced = False
    for number, text in lines:
        is_fence = text.lstrip().startswith("```")
        is_fenced ^= is_fence
        if is_fence or is_fenced or _RULE.match(text):
            found.append([])
            continue
        start = _ITEM.match(text) or _ROW.match(text)
        if not start and is_code_line.match(text) and not found[-1]:
            continue
        if start:
            found.append([])
            text = text[start.end() :]
        found[-1].append((number, _plain(text)))
    return [paragraph for paragraph in found if paragraph]


def _without_code(text: str, keep_indent: bool) -> list[str]:
    """The lines of a page. Fenced code and tags are empty lines; table cells stand apart."""
    # Code between backticks may go on in the next line.
    text = re.sub(
        r"(?<!`)`[^`]{1,200}`(?!`)", lambda m: _word_for(m) + "\n" * m[0].count("\n"), text
    )
    lines = []
    fence = ""
    for line in text.split("\n"):
        mark = re.match(r"^\s*(```+|~~~+|:::+)", line)
        if fence or mark:
            if not fence and mark:
                fence = mark[1]
            elif mark and mark[1].startswith(fence):
                fence = ""
            line = ""
        elif re.match(r"^\s*(<|\[\w+\]:)", line):
            line = ""
        lines.append(line if keep_indent or _ITEM.match(line) else line.strip())
    return lines


def from_markdown(text: str, keep_indent: bool = False) -> list[Paragraph]:
    lines: list[Line] = []
    for number, line in enumerate(_without_code(text, keep_indent), 1):
        if line.startswith("#"):
            lines += [(number, ""), (number, line.strip("# ")), (number, "")]
        elif line.startswith("|"):
            for cell in line.strip("|").split("|"):
                lines += [(number, ""), (number, cell.strip()), (number, "")]
        else:
            lines.append((number, line))
    return _paragraphs(lines)


_CPP = re.compile(
    r"""R"(?P<end>[^\s()\\]{0,16})\(.*?\)(?P=end)\""""
    r"""|"(?:\\.|[^"\\\n])*\""""
    r"""|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"""
    r"""|(?P<line>//[^\n]*)|/\*(?P<block>.*?)\*/""",
    re.DOTALL,
)
_CPP_TOOLS = re.compile(
    r"//==|//===|.*(?:-\*- |SPDX-)|//+\s*(?:NOLINT|clang-format|IWYU|RUN:|[A-Z-]*CHECK)"
)
_PYTHON = re.compile(
    r"""\"{3}(?:\\.|.)*?\"{3}|'{3}(?:\\.|.)*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    r"""|(?P<line>\#[^\n]*)""",
    re.DOTALL,
)
_PYTHON_TOOLS = re.compile(r"#+:? ?(?:type:|noqa|ruff:|fmt:|!|pragma|%%)")
_DESCRIPTION = re.compile(
    r"let\s+description\s*=\s*\[\{(?P<page>.*?)\}\]"
    r"|let\s+summary\s*=\s*(?P<line>(?:\"[^\"]*\"\s*)+)",
    re.DOTALL,
)


class _Lines:
    """The numbers of lines at positions of a text."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def number(self, position: int) -> int:
        return bisect_right(self.starts, position)

    def column(self, position: int) -> int:
        return position - self.starts[self.number(position) - 1]


def _comments(text: str, pattern: re.Pattern[str], tools: re.Pattern[str]) -> list[Paragraph]:
    """Lines of comments that follow each other at one column are one comment. Beside code a comment
    begins, and goes on in the lines below that have no code."""
    places = _Lines(text)
    groups: list[list[Line]] = []
    next_place = (0, 0)
    for match in pattern.finditer(text):
        groups_of = match.groupdict()
        number, column = places.number(match.start()), places.column(match.start())
        if groups_of.get("block") is not None:
            lines = enumerate(match["block"].split("\n"), number)
            groups.append([(at, re.sub(r"^\s*\*", "", line)) for at, line in lines])
        elif match["line"] is not None and not tools.match(match["line"]):
            has_code = bool(text[places.starts[number - 1] : match.start()].strip())
            if has_code or (number, column) != next_place:
                groups.append([])
            groups[-1].append((number, re.sub(r"^(?:#:?|//[/!]?<?) ?", "", match["line"])))
            next_place = (number + 1, column)
    # Comments have formulas and programs, too, a little to the right of their text.
    return [paragraph for group in groups for paragraph in _paragraphs(group, indent=2)]


def from_cpp(text: str) -> list[Paragraph]:
    return _comments(text, _CPP, _CPP_TOOLS)


def from_tablegen(text: str) -> list[Paragraph]:
    """Comments, and what becomes pages: summaries and descriptions."""
    places = _Lines(text)
    found = []
    for match in _DESCRIPTION.finditer(text):
        kind = "page" if match["page"] is not None else "line"
        before = places.number(match.start(kind)) - 1
        body = match[kind] if kind == "page" else re.sub(r' *" *"?', " ", match[kind])
        lines = body.split("\n")
        indent = min((len(x) - len(x.lstrip()) for x in lines[1:] if x.strip()), default=0)
        body = "\n".join([lines[0].strip(), *(x[indent:] for x in lines[1:])])
        for paragraph in from_markdown(body):
            found.append([(before + number, line) for number, line in paragraph])
    code = re.sub(r"\[\{.*?\}\]", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    return found + from_cpp(code)


def from_python(text: str) -> list[Paragraph]:
    """Comments and docstrings."""
    found = _comments(text, _PYTHON, _PYTHON_TOOLS)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(
            node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        ) or not (doc := ast.get_docstring(node)):
            continue
        before = node.body[0].lineno - 1
        # What is indented in a docstring is code. A page has code between fences.
        for paragraph in from_markdown(doc, keep_indent=True):
            found.append([(before + number, line) for number, line in paragraph])
    return found


_READERS = {".md": from_markdown, ".py": from_python, ".td": from_tablegen}


def from_file(path: Path) -> list[Paragraph]:
    return _READERS.get(path.suffix, from_cpp)(path.read_text())
