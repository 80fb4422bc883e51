#!/usr/bin/env python3
"""Checks the English of pages, comments and docstrings with proselint and rules of our own.

    scripts/check_prose.py [FILE... | --lower | --reset]

Without an argument it compares the tree with scripts/prose/exceptions.txt. With files it prints
everything that is found in them. `--lower` writes lower counts of exceptions, never higher ones.
`--reset` writes all counts as they are, behind a new rule.

Our rules are: a sentence has at most 30 words, brackets are not nested, and the words of
scripts/prose/words.txt are not used. Older text breaks them in places. exceptions.txt says how
often in each file. A file may not break a rule more often than that. If it does less often, the
count has to be lowered, so that the list only shrinks.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import proselint.checks
from proselint.config import Config
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, CheckResult
from proselint.tools import LintFile

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from prose import extract  # noqa: E402

WORDS = ROOT / "scripts/prose/words.txt"
EXCEPTIONS = ROOT / "scripts/prose/exceptions.txt"
KINDS = ("*.md", "*.h", "*.cpp", "*.td", "*.py")
#: Text that is generated, that says what was, or that is written as users write.
LEFT_OUT = (
    "CHANGELOG.md",
    "docs/generated/*",
    "docs/tutorials/*.md",
    "test/python/compat/programs/*",
)
MOST_WORDS = 30
#: What proselint knows itself and what suits technical text.
OTHERS = (
    "archaism", "lexical_illusions", "malapropisms", "mondegreens", "needless_variants", "nonwords",
    "spelling",
)  # fmt: skip
RULES = ("sentence-length", "nested-brackets", "words")

_SENTENCE = re.compile(r"[.!?][)\"]*\s+|\n\n+|:\s*\n")
_WORD = re.compile(r"[A-Za-z0-9][\w'-]*")


class Finding(NamedTuple):
    file: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message} [{self.rule}]"


def sentence_length(text: str, check: Check) -> Iterator[CheckResult]:
    start = 0
    for end in [*_SENTENCE.finditer(text), None]:
        stop = end.start() if end else len(text)
        words = _WORD.findall(text, start, stop)
        # A list of names is no sentence.
        names = sum(extract.is_code(word) for word in words)
        if (count := len(words)) > MOST_WORDS and 2 * names < count:
            first = start + len(text[start:stop]) - len(text[start:stop].lstrip())
            message = f"a sentence of {count} words; write at most {MOST_WORDS}"
            yield CheckResult(check.path, message, (first, stop), None)
        start = end.end() if end else stop


def nested_brackets(text: str, check: Check) -> Iterator[CheckResult]:
    """Brackets of prose, which follow a space. Those of calls and layouts do not."""
    depth = 0
    opened: list[bool] = []
    for match in re.finditer(r"\n\n|(?<![\w\])}>])\(|\(|\)", text):
        if match[0] == "\n\n":
            opened, depth = [], 0
        elif match[0] == ")":
            depth -= opened.pop() if opened else False
        else:
            is_prose = match.start() == 0 or text[match.start() - 1] in " \n"
            opened.append(is_prose)
            depth += is_prose
            if is_prose and depth == 2:
                span = (match.start(), match.end())
                yield CheckResult(check.path, "brackets within brackets", span, None)


@functools.cache
def word_list() -> list[tuple[re.Pattern[str], str]]:
    lines = [line for line in WORDS.read_text().splitlines() if line and not line.startswith("#")]
    pairs = [re.split(r" {2,}", line, maxsplit=1) for line in lines]
    return [
        (re.compile(rf"\b(?:{pattern})\b".replace(" ", r"\s"), re.IGNORECASE), advice)
        for pattern, advice in pairs
    ]


def words(text: str, check: Check) -> Iterator[CheckResult]:
    for pattern, advice in word_list():
        for match in pattern.finditer(text):
            found = " ".join(match[0].split())
            yield CheckResult(check.path, f'"{found}": write {advice}', match.span(), None)


def set_up() -> Config:
    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(proselint.checks.__register__)
        for rule, function in zip(RULES, (sentence_length, nested_brackets, words), strict=True):
            registry.register(Check(check_type=function, path=rule))
    return Config(max_errors=10_000, checks=dict.fromkeys(RULES + OTHERS, True))


def is_word_twice(result: CheckResult, text: str) -> bool:
    """Not in two paragraphs or cells of a table, and no figure: `8192^3 384`."""
    # proselint counts the empty line that it puts before the text.
    repeated = text[result.span[0] - 1 : result.span[1] - 1]
    return not re.search(r"\n\n|\d|Code|  ", repeated)


def check_paragraphs(name: str, paragraphs: list[extract.Paragraph]) -> list[Finding]:
    config = set_up()
    numbers: list[int] = []
    lines: list[str] = []
    for paragraph in paragraphs:
        for number, line in [*paragraph, (0, "")]:
            numbers.append(number)
            lines.append(line)
    if not lines:
        return []
    found = []
    text = "\n".join(lines)
    for result in LintFile(name, text).lint(config):
        at = min(result.pos[0], len(numbers)) - 1
        rule, message = result.check_result.check_path, result.check_result.message
        if rule == "lexical_illusions" and not is_word_twice(result.check_result, text):
            continue
        found.append(Finding(name, numbers[at] or numbers[max(at - 1, 0)], rule, message))
    return found


def check_file(name: str) -> list[Finding]:
    return check_paragraphs(name, extract.from_file(ROOT / name))


def files_of_the_tree() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *KINDS],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    return [
        name
        for name in sorted(set(listed))
        if (ROOT / name).is_file() and not any(fnmatch.fnmatch(name, out) for out in LEFT_OUT)
    ]


def read_exceptions() -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    if EXCEPTIONS.exists():
        for line in EXCEPTIONS.read_text().splitlines():
            if line and not line.startswith("#"):
                count, rule, name = line.split(maxsplit=2)
                counts[name, rule] = int(count)
    return counts


def write_exceptions(counts: Counter[tuple[str, str]]) -> None:
    lines = [f"{count} {rule} {name}\n" for (name, rule), count in sorted(counts.items()) if count]
    head = (
        "# How often older files break a rule of scripts/check_prose.py. This list only shrinks:\n"
        "# scripts/check_prose.py --lower takes out what was mended.\n"
    )
    EXCEPTIONS.write_text(head + "".join(lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="show all findings in these files")
    parser.add_argument("--lower", action="store_true", help="write lower counts of exceptions")
    parser.add_argument("--reset", action="store_true", help="write all counts, for a new rule")
    arguments = parser.parse_args()
    set_up()
    names = arguments.files or files_of_the_tree()
    with ProcessPoolExecutor() as pool:
        found = [f for part in pool.map(check_file, names, chunksize=40) for f in part]
    if arguments.files:
        print(*found, sep="\n")
        return bool(found)

    counts = Counter((finding.file, finding.rule) for finding in found)
    allowed = read_exceptions()
    if arguments.lower or arguments.reset:
        write_exceptions(counts if arguments.reset else counts & allowed)
        allowed = read_exceptions()
    status = 0
    for key in sorted(counts - allowed):
        status = 1
        print(*(f for f in found if (f.file, f.rule) == key), sep="\n")
        if allowed[key]:
            print(f"  {allowed[key]} of them are older: exceptions.txt allows no more")
    for name, rule in sorted(allowed - counts):
        status = 1
        print(f"{name}: breaks {rule} less often now: run scripts/check_prose.py --lower")
    return status


if __name__ == "__main__":
    sys.exit(main())
