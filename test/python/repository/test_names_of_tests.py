"""Tests lie in folders that say what they hold, each under a name of its own."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = [ROOT / "test/python", *ROOT.glob("third_party/*/test/python")]
#: Where tests are named, and in which files.
TOPS = ("bench", "docs", "examples", "include", "lib", "python", "scripts", "test", "third_party")
KINDS = (".md", ".sh", ".py", ".cpp", ".h", ".td", ".txt", ".toml")
#: A path of a test, as pages, scripts and comments write it.
MENTION = re.compile(r"(?:third_party/\w+/)?test/(?:python|lit|unit|fuzz|gpu)/[\w./-]*\w\.\w+")


def test_every_name_is_given_once():
    """pytest imports tests by the names of their files."""
    names = Counter(file.name for folder in FOLDERS for file in folder.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_test_lies_in_a_folder():
    assert list((ROOT / "test/python").glob("test_*.py")) == []


def test_named_tests_exist():
    missing = []
    for file in (*ROOT.glob("*.*"), *(f for top in TOPS for f in (ROOT / top).rglob("*.*"))):
        name = file.relative_to(ROOT).as_posix()
        if file.suffix not in KINDS or name == "CHANGELOG.md":
            continue
        for mention in MENTION.findall((ROOT / name).read_text()):
            backend = ROOT / Path(name).parts[0] / Path(name).parts[1] if "/" in name else ROOT
            if not any((folder / mention).exists() for folder in (ROOT, backend)):
                missing.append(f"{name}: {mention}")
    assert missing == []
