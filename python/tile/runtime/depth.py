"""How deep Python's stack may get while a kernel is compiled.

Expressions of thousands of terms, and calls that nest deeply, need more of
Python's frames than the default limit allows. The limit is higher only while a
kernel is compiled, because it keeps an endless recursion from a crash.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .syntax import children

#: Python's frames for each level of an expression, and those that all else may take.
_PER_LEVEL, _OTHERS = 3, 1000
#: How deep Python's own parser lets expressions nest, about.
DEEPEST = 3000

_lock = threading.Lock()
_users = 0
_limit = 0


@contextmanager
def deep_stack() -> Iterator[None]:
    """What `allow_depth` allows inside ends with the block."""
    global _users, _limit
    with _lock:
        if not _users:
            _limit = sys.getrecursionlimit()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users and sys.getrecursionlimit() > _limit:
                sys.setrecursionlimit(_limit)


def allow_depth(levels: int) -> None:
    """Lets Python's stack hold what works on so many levels of expressions."""
    needed = _OTHERS + _PER_LEVEL * levels
    if levels and sys.getrecursionlimit() < needed:
        sys.setrecursionlimit(needed)


def depth_of(tree: ast.AST) -> int:
    """How deep the nodes of a tree nest."""
    depth = 0
    level = [tree]
    while level:
        depth += 1
        level = [child for node in level for child in children(node)]
    return depth
