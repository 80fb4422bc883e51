"""What changes the key of a kernel: its source, and everything the source reaches."""

from __future__ import annotations

import linecache
import textwrap

import pytest

import tile
import tile.language as tl

HEADER = "import enum\nimport tile\nimport tile.language as tl\n"


def key_of(program: str, name: str = "kernel", package: str = "program") -> str:
    """The key of a kernel in a program."""
    text = HEADER + textwrap.dedent(program)
    path = "<a program>"
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    namespace = {"__name__": package}
    exec(compile(text, path, "exec"), namespace)
    return namespace[name].cache_key


PROGRAMS = {
    "a constant": ("""
        N = tl.constexpr(VALUE)
        @tile.jit
        def kernel(p):
            tl.store(p, N)
        """, "1", "2"),
    "the type of a constant": ("""
        N = tl.constexpr(VALUE)
        @tile.jit
        def kernel(p):
            tl.store(p, N)
        """, "1", "True"),
    "an element type": ("""
        T = VALUE
        @tile.jit
        def kernel(p):
            tl.store(p, tl.full((1,), 1, T))
        """, "tl.float16", "tl.float32"),
    "a member of an enumeration": ("""
        class Mode(enum.Enum):
            A = VALUE
        @tile.jit
        def kernel(p):
            tl.store(p, Mode.A.value)
        """, "1", "2"),
    "a called function": ("""
        @tile.jit
        def callee(x):
            return x + VALUE
        @tile.jit
        def kernel(p):
            callee(p)
        """, "1", "2"),
    "a function that a called function calls": ("""
        @tile.jit
        def inner(x):
            return x + VALUE
        @tile.jit
        def callee(x):
            return inner(x)
        @tile.jit
        def kernel(p):
            callee(p)
        """, "1", "2"),
    "the default of a called function": ("""
        D = VALUE
        @tile.jit
        def callee(x, N: tl.constexpr = D):
            return x + N
        @tile.jit
        def kernel(p):
            callee(p)
        """, "1", "2"),
    "a function over constants": ("""
        @tile.constexpr_function
        def twice(n):
            return VALUE * n
        @tile.jit
        def kernel(p):
            tl.store(p, twice(4))
        """, "2", "3"),
    "what a function over constants calls": ("""
        SCALE = VALUE
        def helper(n):
            return n * SCALE
        @tile.constexpr_function
        def twice(n):
            return helper(n)
        @tile.jit
        def kernel(p):
            tl.store(p, twice(4))
        """, "2", "3"),
    "a method of an aggregate": ("""
        @tl.aggregate
        class Pair:
            a: tl.tensor
            @tile.jit
            def get(self):
                return self.a + VALUE
        @tile.jit
        def kernel(p):
            tl.store(p, Pair(p).get())
        """, "1", "2"),
    "a function in a tuple": ("""
        @tile.jit
        def f(x):
            return x + VALUE
        FUNCTIONS = tl.constexpr((f,))
        @tile.jit
        def kernel(p):
            tl.store(p, FUNCTIONS[0](1))
        """, "1", "2"),
    "a closure": ("""
        def make(n):
            n = tl.constexpr(n)
            @tile.jit
            def kernel(p):
                tl.store(p, n)
            return kernel
        kernel = make(VALUE)
        """, "1", "2"),
    "a recursive type": ("""
        @tile.jit
        def kernel(p):
            if VALUE > 1:
                kernel(p)
        """, "1", "2"),
    "noinline": ("""
        @tile.jit(noinline=VALUE)
        def callee(x):
            return x
        @tile.jit
        def kernel(p):
            callee(p)
        """, "True", "False"),
    "what is in a constant object": ("""
        class Config:
            def __init__(self, n):
                self.n = n
        CONFIG = tl.constexpr(Config(VALUE))
        @tile.jit
        def get(config):
            return config.n
        @tile.jit
        def kernel(p):
            tl.store(p, get(CONFIG))
        """, "1", "2"),
    "a slot of a constant object": ("""
        class Config:
            __slots__ = ("n",)
        c = Config()
        c.n = VALUE
        CONFIG = tl.constexpr(c)
        @tile.jit
        def kernel(p):
            tl.store(p, CONFIG.n)
        """, "1", "2"),
    "an attribute of a class": ("""
        class Config:
            N = VALUE
        @tile.jit
        def kernel(p):
            tl.store(p, Config.N)
        """, "1", "2"),
    "functions that call each other": ("""
        def even(n):
            return True if n == VALUE else odd(n - 1)
        def odd(n):
            return False if n == 0 else even(n - 1)
        @tile.constexpr_function
        def answer(n):
            return even(n)
        @tile.jit
        def kernel(p):
            tl.store(p, answer(4))
        """, "0", "2"),
    "an item of a container that holds itself": ("""
        LIST = [VALUE]
        LIST.append(LIST)
        LIST = tl.constexpr(LIST)
        @tile.jit
        def kernel(p):
            tl.store(p, LIST[0])
        """, "0", "2"),
}  # fmt: skip


@pytest.mark.parametrize("what", PROGRAMS)
def test_the_key_follows(what):
    program, first, second = PROGRAMS[what]
    key = key_of(program.replace("VALUE", first))
    assert key == key_of(program.replace("VALUE", first)), "the key does not repeat"
    assert key != key_of(program.replace("VALUE", second))


def test_a_long_chain_of_functions():
    """As long as no stack is deep."""
    chain = "".join(
        f"def f{i}(n):\n    return f{i + 1}(n)\n" for i in range(3000)
    ) + "def f3000(n):\n    return VALUE\n"  # fmt: skip
    program = chain + (
        "@tile.constexpr_function\ndef answer():\n    return f0(1)\n"
        "@tile.jit\ndef kernel(p):\n    tl.store(p, answer())\n"
    )
    assert key_of(program.replace("VALUE", "1")) != key_of(program.replace("VALUE", "2"))


def test_what_is_not_reached_does_not_matter():
    program = """
        OTHER = tl.constexpr(VALUE)
        @tile.jit
        def kernel(p):
            tl.store(p, 1)
        """
    assert key_of(program.replace("VALUE", "1")) == key_of(program.replace("VALUE", "2"))


def test_classes_that_are_named():
    program = """
        @tile.jit
        def kernel(p):
            tl.static_assert(not isinstance(p, tile.JITFunction))
        """
    assert key_of(program) == key_of(program)


def test_constants_that_are_functions():
    """A function passed as a constant counts by what it does, not by where it is in memory."""
    from tile.runtime.dependencies import constant_key

    def make(scale: int):
        text = f"{HEADER}@tile.jit\ndef f(x):\n    return x * {scale}\n"
        path = "<a function>"
        linecache.cache[path] = (len(text), None, text.splitlines(True), path)
        namespace = {"__name__": "program"}
        exec(compile(text, path, "exec"), namespace)
        return namespace["f"]

    assert constant_key(make(2)) == constant_key(make(2)) != constant_key(make(3))
    assert constant_key((make(2), 1)) != constant_key((make(3), 1))
    assert constant_key(1) != constant_key(True) != constant_key(1.0)
    assert constant_key(tl.float32) != constant_key(tl.float16)
    assert constant_key(0.0) != constant_key(-0.0)
    assert constant_key([1, 2]) != constant_key((1, 2))
    assert isinstance(tile.cdiv, object) and "0x" not in constant_key(tile.cdiv)


def test_builtins_that_tell_no_signature():
    """Such as the methods of torch's tensors, which a kernel's module may hold."""
    assert key_of(
        """
        update = dict.update

        def helper(x, how=update):
            return x

        @tile.jit
        def kernel(out):
            tl.store(out, helper(1))
        """
    )
    from tile.runtime.dependencies import constant_key

    assert constant_key(dict.update) == constant_key(dict.update)


def test_decorators_are_no_part_of_a_kernel():
    """What they reach may be half a library: Inductor's choose configurations, for example."""
    program = """
        TRIED = VALUE

        def chosen(fn, tried=()):
            return tile.jit(fn)

        def choose(tried):
            return lambda fn: chosen(fn, TRIED)

        @choose(TRIED)
        def kernel(p, N: tl.constexpr = 1):
            tl.store(p, N)
        """
    assert key_of(program.replace("VALUE", "1")) == key_of(program.replace("VALUE", "2"))


def test_containers_that_contain_themselves():
    program = """
        table = {"size": VALUE}
        table["all"] = [table, (table,)]

        @tile.jit
        def kernel(p):
            tl.store(p, table["size"])
        """
    first, second = (key_of(program.replace("VALUE", value)) for value in "12")
    assert first == key_of(program.replace("VALUE", "1")) != second
