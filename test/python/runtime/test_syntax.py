"""Walks over syntax trees find what those of Python's library find."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tile.runtime.syntax import children, walk

WORDS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
SYNTAX = '''
import a.b as c, d
from . import e as f

@g(1, *h, i=2, **j)
class K(L, m=n):
    """o"""
    p: int = q
    r: "s"

async def t(u, /, v=1, *w, x: int = 2, **y) -> z:
    global a1
    async with b1 as c1, d1:
        await e1
    async for f1 in g1:
        yield h1
    else:
        yield from i1
    del j1, k1[l1:m1:n1]

def o1():
    nonlocal_ = {**p1, q1: r1}, {s1}, [t1, *u1], f"{v1!r:>{w1}}"
    x1 += y1 if z1 else -a2 @ b2 and not c2 or d2 < e2 <= f2 in g2
    if (h2 := lambda i2, *, j2=k2: l2):
        pass
    elif m2:
        raise n2 from o2
    while ([p2 for q2 in r2 if s2 async for t2 in u2], {v2: w2 for x2 in y2}, (z2 for a3 in b3)):
        break
    try:
        assert c3, d3
    except e3 as f3:
        continue
    finally:
        return g3.h3.i3(j3)[k3, ...]
    match l3:
        case M3(1, n3=o3) | {"p3": q3, **r3} | [s3, *t3] if u3:
            pass
        case None | v3.w3 | _:
            pass
'''


def trees():
    """Of each kind of syntax, and of the language's own functions."""
    folder = Path(children.__code__.co_filename).parents[1] / "language"
    return [SYNTAX, *(f.read_text() for f in sorted(folder.glob("*.py")))]


@pytest.mark.parametrize("text", trees(), ids=lambda t: str(len(t)))
def test_all_nodes_but_words_are_found_once(text):
    tree = ast.parse(text)
    expected = [id(n) for n in ast.walk(tree) if not isinstance(n, WORDS)]
    assert sorted(expected) == sorted(map(id, walk([tree])))


def test_nodes_come_before_those_below_them_in_the_order_of_the_text():
    tree = ast.parse("a = b.c(d, e=f)[g]; h")
    names = [n.id if isinstance(n, ast.Name) else type(n).__name__ for n in walk(tree.body)]
    expected = "Assign a Subscript Call Attribute b d keyword f g Expr h"
    assert names == expected.split()
