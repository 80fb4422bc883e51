"""What the text of a kernel says of the arguments it was compiled for, to who runs it in the
simulator: a comment behind the code."""

from __future__ import annotations

import re
from typing import Any


def state_pairs(metadata: dict[str, Any], comment: str) -> str:
    """The line that says which pairs of arguments a kernel takes to be disjoint, if any; `comment`
    is what comments of its language begin with."""
    numbers = metadata.get("disjoint_arguments")
    if not numbers:
        return ""
    return f"{comment} disjoint arguments of {metadata['name']}: {' '.join(map(str, numbers))}\n"


def state_undefined_loads(metadata: dict[str, Any], comment: str) -> str:
    """The lines that say which loads leave lanes undefined that their masks switch off."""
    places = metadata.get("undefined_loads") or []
    return "".join(f"{comment} undefined lanes: {place}\n" for place in places)


def stated_pairs(text: str, entry: str) -> list[tuple[int, int]]:
    """The pairs of parameters that a kernel was compiled to take as disjoint, as its text says."""
    line = rf"^(?://|;) disjoint arguments of {re.escape(entry)}:([ \d]+)$"
    found = re.search(line, text, re.MULTILINE)
    numbers = [int(n) for n in found.group(1).split()] if found else []
    return list(zip(numbers[::2], numbers[1::2], strict=False))
