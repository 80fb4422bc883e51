"""How the source of a function is found in its file."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import textwrap

import numpy as np
import pytest

from tile.runtime.source import parse, read_source

FUNCTIONS = {
    "one line": "def f(x): return x\ny = 1\n",
    "the last of the file": "def f(x):\n    return x",
    "comments, blank lines": "def f(x):\n\n  # a\n# b\n  y = x\n\n  return y\n\n# c\n\nz = f\n",
    "a comment behind it": "def f(x):\n    return x\n    # a\n\n    # b\n  # c\n# d\ny = 1\n",
    "a bracket at its margin": "def f(\n    x,\n    y=(\n1\n),\n):\n    return x\nz = f\n",
    "a text at the margin": 'def f(x):\n    """\na\n  b\n"""\n    return """\nc\n"""\nz = f\n',
    "a line that goes on": "def f(x):\n    y = \\\n1 + \\\nx\n    return y\nz = f\n",
    "decorators": "@same\n# a\n@with_arguments(\n  1,\n)\n@same\ndef f(x):\n  return x\n\n",
    "inside": "if True:\n    def f(x):\n        # a\n        return x\n        # b\n    z = f\n",
    "inside, a text at the margin": 'if True:\n    def f(x):\n        """\na\n"""\n    z = 1\n',
    "another inside": "def f(x):\n    def g(y):\n        return y\n\n    return g(x)\nz = f\n",
    "tabs": "if True:\n\tdef f(x):\n\t\treturn x\n\tz = 1\n",
    "asynchronous": "async def f(x):\n    return x\nz = f\n",
    "many lines at its margin": "def f(\n" + "x,\n" * 20 + "):\n    return x\nz = f\n",
    "a lambda": "f = lambda x: x + 1\nz = f\n",
    "a lambda of several lines": "f = lambda x: (\n    x\n)\nz = f\n",
    "a lambda behind a statement": "y = 1; f = lambda x: y\nz = f\n",
}


def load(tmp_path, text):
    file = tmp_path / "functions.py"
    file.write_text(
        "def same(f):\n    return f\n\n\ndef with_arguments(n):\n    return same\n\n\n"
        # So that names of parameters may be given twice.
        + text.replace("x,\n" * 20, "".join(f"x{i},\n" for i in range(19)) + "x,\n")
    )
    spec = importlib.util.spec_from_file_location("functions", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_text_is_that_of_inspect(tmp_path, name):
    f = load(tmp_path, FUNCTIONS[name]).f
    assert read_source(f)[0] == textwrap.dedent(inspect.getsource(f))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_places_are_those_of_the_file(tmp_path, name):
    module = load(tmp_path, FUNCTIONS[name])
    _, statements = read_source(module.f)
    with open(module.__file__) as file:
        whole = ast.parse(file.read())
    places = [(type(n), n.lineno, n.col_offset) for n in ast.walk(whole) if hasattr(n, "lineno")]
    nodes = [n for s in statements for n in ast.walk(s) if hasattr(n, "lineno")]
    assert nodes and all((type(n), n.lineno, n.col_offset) in places for n in nodes)


def test_a_lambda_within_a_statement_has_no_statement(tmp_path):
    module = load(tmp_path, "f = max(\n    1,\n    2, key=lambda x: -x)\n")
    assert module.f == 1
    made = load(tmp_path, "def g(f):\n    return f\nf = g(\n  g(\n  lambda x: -x))\n").f
    assert read_source(made)[1] == []


KERNEL = """import tile
import tile.language as tl

if True:
    @tile.jit
    def kernel(x, out):
        value = tl.load(x)
#       value = 7
        tl.store(out, value + 1)
"""


def test_comments_at_the_margin_of_a_kernel_that_is_inside(tmp_path):
    """The text cannot be dedented."""
    kernel = load(tmp_path, KERNEL).kernel
    x, out = np.ones(1, np.int32), np.zeros(1, np.int32)
    kernel[(1,)](x, out)
    assert out[0] == 2
    node = parse(kernel.fn).node
    assert node.col_offset == 4 and node.body[0].col_offset == 8
