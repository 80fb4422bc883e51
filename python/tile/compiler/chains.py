"""Chained comparisons that their authors did not mean."""

from __future__ import annotations

import ast

_BITS = {ast.BitAnd: "&", ast.BitOr: "|"}


def bits_between(node: ast.Compare) -> str | None:
    """What is wrong with `i < n & j > 2`, which Python reads as `i < (n & j) > 2`."""
    for between in node.comparators[:-1]:
        if isinstance(between, ast.BinOp) and type(between.op) in _BITS:
            sign = _BITS[type(between.op)]
            return (
                f"this is a chained comparison: {sign} is computed before the comparisons; put "
                f"each comparison in parentheses, as in (a < b) {sign} (c < d)"
            )
    return None
