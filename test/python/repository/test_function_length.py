"""Functions stay short enough to follow: what the check of their lengths takes for a function."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts/check_functions.py"


def load():
    spec = importlib.util.spec_from_file_location("check_functions", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK = load()

#: Heads of functions, and of what is none.
FUNCTIONS = [
    "void f(int x)",
    "static LogicalResult\nC<T>::f(const X &x,\n  int y = 1) const",
    "template <typename T> bool operator==(const T &a, const T &b)",
    "X::X(int a) : a(a), b(a)",
    "auto f() -> std::vector<int>",
]
OTHERS = [
    "namespace a",
    "struct alignas(64) Chunk",
    "template <typename T> class C : public D<T>",
    "enum class E : uint8_t",
    "constexpr Row rows[] =",
    "const auto visit = [](int x)",
]


@pytest.mark.parametrize("head", FUNCTIONS)
def test_functions_are_found(head):
    body = '  if (x) {\n    call("}}}"); // }\n  }\n' * 50
    text = f"\nnamespace n {{\nclass C {{\n{head} {{\n{body}}}\n}};\n}}\n"
    last = 5 + head.count("\n") + 150
    assert list(CHECK.functions_of(text)) == [(4, last)]


@pytest.mark.parametrize("head", OTHERS)
def test_other_braces_are_none(head):
    assert not list(CHECK.functions_of(head + " {\n" + "  1,\n" * 150 + "};\n"))


def test_python_functions_are_found():
    text = "class C:\n    def f(self):\n" + "        pass\n" * 3
    assert list(CHECK.functions_of_python(text)) == [(2, 5)]


def test_no_function_of_the_tree_is_too_long():
    result = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert not result.returncode, result.stdout
