#!/usr/bin/env python3
"""Checks the subjects of commits: at most 72 characters, in the imperative, why in the body.

scripts/check_commits.py                  # the commits of this branch
scripts/check_commits.py --message FILE   # one message, as git's hook commit-msg gives it
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Commits from before the rule stay as they are.
SINCE = "2026-11-29T00:00:00Z"
LONGEST = 72
#: Written by git itself, whatever the length.
BY_GIT = re.compile(r'(?:Merge|Revert "|Reapply "|fixup!|squash!|amend!)')
#: No verb begins a subject so.
NO_VERBS = {
    "a", "all", "an", "any", "both", "each", "every", "he", "how", "if", "in", "it", "its", "many",
    "more", "no", "on", "one", "our", "some", "that", "the", "their", "there", "these", "they",
    "this", "those", "three", "two", "we", "what", "when", "where", "which", "who",
}  # fmt: skip
#: Verbs that look like another form of a verb, or like a noun in the plural.
VERBS = re.compile(
    r"(?:embed|exceed|feed|need|proceed|seed|shed|speed|spread|succeed|bring|cling|ring|string|wring"
    r"|alias|bias|canvas|focus|\w+ss)"
)


def what_is_wrong(subject: str) -> str | None:
    """Why a subject is refused; None if it is not."""
    if BY_GIT.match(subject):
        return None
    if len(subject) > LONGEST:
        return f"has {len(subject)} characters, and may have {LONGEST}"
    if subject.endswith("."):
        return "ends with a full stop"
    first = re.match(r"[A-Z][a-z]+(?=[\s,])", subject)
    if not first:
        return "does not begin with a verb, such as 'Refuse' or 'Add'"
    word = first[0].lower()
    if word in NO_VERBS or (re.search(r"(?:ed|ing|s)$", word) and not VERBS.fullmatch(word)):
        return f"begins with '{first[0]}', which is no imperative"
    return None


def subjects() -> list[tuple[str, str]]:
    """Hashes and subjects of the commits that the rule is for."""
    listed = subprocess.run(
        ["git", "log", "--no-merges", f"--since={SINCE}", "--format=%h %s"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in listed]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--message", type=Path, help="a file that begins with a subject")
    arguments = parser.parse_args()
    if arguments.message:
        lines = arguments.message.read_text().splitlines()
        checked = [("this commit", next((x for x in lines if x and not x.startswith("#")), ""))]
    elif not (ROOT / ".git").exists():
        return 0
    else:
        checked = subjects()
    status = 0
    for name, subject in checked:
        if reason := what_is_wrong(subject):
            print(f"{name}: the subject {reason}: {subject}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
