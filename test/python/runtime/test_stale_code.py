"""What runs is the code that exists: after reloads, edits of files, and new values
of the names that a kernel refers to."""

from __future__ import annotations

import importlib
import sys
import textwrap

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


class Module:
    """A module in a file, to be edited and imported again."""

    def __init__(self, folder, name: str) -> None:
        self.path = folder / f"{name}.py"
        self.name = name
        self.module = None

    def write(self, text: str) -> None:
        self.path.write_text("import tile\nimport tile.language as tl\n" + textwrap.dedent(text))
        importlib.invalidate_caches()

    def load(self):
        if self.module is None:
            self.module = importlib.import_module(self.name)
        else:
            self.module = importlib.reload(self.module)
        return self.module


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    # Files are written faster than the time stamps of byte code tell apart.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = []

    def make(name: str = "edited_kernels") -> Module:
        made.append(Module(tmp_path, name))
        return made[-1]

    yield make
    for each in made:
        sys.modules.pop(each.name, None)


def value_of(kernel) -> int:
    out = np.zeros(1, np.int32)
    kernel[(1,)](out)
    return int(out[0])


def test_reload_runs_the_new_text(module):
    source = module()
    source.write("@tile.jit\ndef kernel(out):\n    tl.store(out, 1)\n")
    assert value_of(source.load().kernel) == 1
    source.write("# A line more.\n\n@tile.jit\ndef kernel(out):\n    tl.store(out, 2)\n")
    assert value_of(source.load().kernel) == 2


def test_an_edit_without_reload_changes_nothing(module):
    source = module()
    source.write("@tile.jit\ndef kernel(out):\n    tl.store(out, 1)\n")
    kernel = source.load().kernel
    source.write("\n\n@tile.jit\ndef kernel(out):\n    tl.store(out, 2)\n")
    assert value_of(kernel) == 1


def test_functions_made_after_an_edit_have_the_text_that_was_imported(module):
    source = module()
    text = """
    @tile.jit
    def first(out):
        tl.store(out, 1)

    def make():
        @tile.jit
        def kernel(out):
            tl.store(out, {})
        return kernel
    """
    source.write(text.format(1))
    make = source.load().make
    source.write("\n\n\n" + text.format(2))
    assert value_of(make()) == 1
    assert value_of(source.load().make()) == 2


def test_a_kernel_of_before_a_reload_stays_as_it_was(module):
    source = module()
    source.write("@tile.jit\ndef kernel(out):\n    tl.store(out, 1)\n")
    old = source.load().kernel
    source.write("\n\n@tile.jit\ndef kernel(out):\n    tl.store(out, 2)\n")
    new = source.load().kernel
    assert (value_of(old), value_of(new)) == (1, 2)


def test_errors_show_the_line_that_was_compiled(module):
    source = module()
    source.write("@tile.jit\ndef kernel(out):\n    tl.store(out, tl.arange(0, 3))\n")
    kernel = source.load().kernel
    source.write("\n# Nothing of this is compiled.\n\n\n")
    with pytest.raises(tile.CompilationError, match=r"tl.store\(out, tl.arange\(0, 3\)\)"):
        value_of(kernel)


#: What a kernel reads, and how that comes to have another value.
READS = {
    "a global": ("N = tl.constexpr(1)", "N", "module.N = tl.constexpr(2)"),
    "a constant": ("N = tl.constexpr(1)", "N", "module.N.value = 2"),
    "an attribute of a module": ("import helper_module", "helper_module.N", "helper.N = 2"),
    "a function of a module": ("import helper_module", "helper_module.f()", "helper.f = helper.g"),
    "a module": ("import helper_module", "helper_module.N", "module.helper_module = helper.other"),
    "an attribute of a class": ("class Config:\n    N = 1", "Config.N", "module.Config.N = 2"),
    "an inherited attribute": (
        "class Base:\n    N = 1\nclass Config(Base):\n    pass", "Config.N", "module.Config.N = 2",
    ),
    "a class of a module": (
        "import helper_module", "helper_module.Config.N", "helper.Config.N = 2",
    ),
    "an attribute of a constant object": (
        "class Config:\n    pass\nc = Config()\nc.N = 1\nCONFIG = tl.constexpr(c)",
        "CONFIG.N", "module.c.N = 2",
    ),
    "a member of an enumeration": (
        "import enum\nclass Mode(enum.Enum):\n    A = 1\nclass Other(enum.Enum):\n    A = 2",
        "Mode.A.value", "module.Mode = module.Other",
    ),
    "the name of a member": (
        "import enum\nclass Mode(enum.IntEnum):\n    A = 1\n    B = 2\n"
        "class Config:\n    mode = Mode.A", "1 if Config.mode.name == 'A' else 2",
        "module.Config.mode = module.Mode.B",
    ),
    "an attribute of slots": (
        "class Config:\n    __slots__ = ('N',)\nc = Config()\nc.N = 1\nCONFIG = tl.constexpr(c)",
        "CONFIG.N", "module.c.N = 2",
    ),
    "a field of a named tuple": (
        "import collections\nSizes = collections.namedtuple('Sizes', 'n')\n"
        "class Config:\n    sizes = Sizes(1)", "Config.sizes.n",
        "module.Config.sizes = module.Sizes(2)",
    ),
    "a property": (
        "class Config:\n    @property\n    def N(self):\n        return self.n\n"
        "c = Config()\nc.n = 1\nCONFIG = tl.constexpr(c)", "CONFIG.N", "module.c.n = 2",
    ),
    "a property that is kept": (
        "import functools\nclass Config:\n    @functools.cached_property\n    def N(self):\n"
        "        return self.n\nc = Config()\nc.n = 1\nCONFIG = tl.constexpr(c)", "CONFIG.N",
        "module.c.n = module.c.N = 2",
    ),
    "an object that a function is given": (
        "class Config:\n    pass\nc = Config()\nc.N = 1\nCONFIG = tl.constexpr(c)\n"
        "@tile.jit\ndef get(config):\n    return config.N", "get(CONFIG)", "module.c.N = 2",
    ),
    "an item of a list": (
        "LIST = tl.constexpr([0, 1])", "LIST[1]", "module.LIST.value[1] = 2",
    ),
    "a variable of the function around it": ("", "closed", "module.close(2)"),
    "what a called function reads": (
        "N = tl.constexpr(1)\n@tile.jit\ndef get():\n    return N", "get()",
        "module.N = tl.constexpr(2)",
    ),
    "a called function": (
        "@tile.jit\ndef get():\n    return 1\n@tile.jit\ndef other():\n    return 2", "get()",
        "module.get = module.other",
    ),
    "what a function over constants reads": (
        "N = 1\n@tile.constexpr_function\ndef get():\n    return N", "get()", "module.N = 2",
    ),
    "an attribute of an alias": (
        "import helper_module", "(m := helper_module).N * 0 + m.N", "helper.N = 2",
    ),
    "what a called function reads through an alias": (
        "import helper_module\n@tile.jit\ndef get(flag):\n    m = helper_module\n"
        "    a, b = m, m.Config\n    for c in (b, b):\n        pass\n"
        "    d = c if flag else b\n    return d.N", "get(True)",
        "helper.Config.N = 2",
    ),
    "a function of an alias": (
        "import helper_module\n@tile.jit\ndef get():\n    m = helper_module\n    n = m\n"
        "    return n.f()", "get()", "helper.f = helper.g",
    ),
    "a function of the program that is a constant": (
        "def get():\n    return 1\nget = tl.constexpr(get)\ndef other():\n    return 2", "get()",
        "module.get = tl.constexpr(module.other)",
    ),
}  # fmt: skip

READER = """
{definitions}

def make():
    closed = tl.constexpr(1)

    def close(value):
        nonlocal closed
        closed = tl.constexpr(value)

    @tile.jit
    def kernel(out):
        if {closes}:
            tl.static_assert(closed is not None)
        tl.store(out, {expression})

    return kernel, close

kernel, close = make()
"""

HELPER = """
import types
N = 1
class Config:
    N = 1

@tile.jit
def f():
    return 1

@tile.jit
def g():
    return 2

other = types.ModuleType("another_helper")
other.N = 2
"""


def reader(module, what: str):
    """A kernel that reads something that is 1, and what makes that 2."""
    definitions, expression, change = READS[what]
    helper = module("helper_module")
    helper.write(HELPER)
    helper = helper.load()
    source = module()
    closes = expression == "closed"
    source.write(READER.format(definitions=definitions, expression=expression, closes=closes))
    source = source.load()
    return source.kernel, lambda: exec(change, {"module": source, "helper": helper, "tl": tl})


STALE = "changed since we compiled this kernel|`kernel` was compiled|the kernel again"


@pytest.mark.parametrize("what", READS)
def test_what_a_kernel_reads_does_not_change_unnoticed(module, what):
    kernel, change = reader(module, what)
    for _ in range(3):
        assert value_of(kernel) == 1
    change()
    for _ in range(2):
        with pytest.raises(tile.TileError, match=STALE):
            value_of(kernel)


@pytest.mark.parametrize("what", READS)
def test_what_changes_before_the_first_launch_is_read(module, what):
    kernel, change = reader(module, what)
    key = kernel.cache_key
    change()
    assert kernel.cache_key != key
    assert value_of(kernel) == 2


@pytest.mark.parametrize("what", READS)
def test_simulated_launches_see_what_there_is(module, what):
    kernel, change = reader(module, what)
    for expected in (1, 2):
        out = np.zeros(1, np.int32)
        kernel.simulate(out, grid=(1,))
        assert out[0] == expected
        change()


def test_other_objects_that_say_the_same(module):
    """After a reload of a helper that has not changed, say."""
    definitions, expression, _ = READS["a class of a module"]
    helper = module("helper_module")
    helper.write(HELPER)
    helper.load()
    source = module()
    source.write(READER.format(definitions=definitions, expression=expression, closes=False))
    kernel = source.load().kernel
    assert value_of(kernel) == 1
    helper.load()
    assert value_of(kernel) == 1
    helper.write(HELPER.replace("N = 1", "N = 2"))
    helper.load()
    with pytest.raises(tile.TileError, match="kernel"):
        value_of(kernel)


CALLER = """
@tile.jit
def caller(out, CALLED: tl.constexpr):
    tl.store(out, {call})
"""

GIVEN = {
    "a function": ("CALLED()", lambda f: f),
    "a tuple of functions": ("CALLED[0]()", lambda f: (f,)),
    "a function in an object": ("CALLED.run()", lambda f: Given(f)),
}


class Given:
    def __init__(self, run):
        self.run = run


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("what", READS)
def test_constants_are_what_their_functions_read_now(module, what, given):
    """The kernel is compiled again: it is the constant that says something else."""
    call, make = GIVEN[given]
    definitions, expression, change = READS[what]
    helper = module("helper_module")
    helper.write(HELPER)
    helper = helper.load()
    source = module()
    text = READER.format(
        definitions=definitions, expression=expression, closes=expression == "closed"
    )
    text = text.replace("def kernel(out):", "def kernel():")
    text = text.replace("tl.store(out, ", "return (").replace(
        "static_assert(closed is not None)", "full((), closed, tl.int32)"
    )
    source.write(text + CALLER.format(call=call))
    source = source.load()
    constant = make(source.kernel)
    out = np.zeros(1, np.int32)
    for _ in range(2):
        source.caller[(1,)](out, constant)
        assert out[0] == 1
    exec(change, {"module": source, "helper": helper, "tl": tl})
    for _ in range(2):
        source.caller[(1,)](out, constant)
        assert out[0] == 2


def test_constants_whose_text_is_another(module):
    source = module()
    source.write("""
    @tile.jit
    def get():
        return 1

    @tile.jit
    def other():
        return 3

    @tile.jit
    def kernel(out, GET: tl.constexpr):
        tl.store(out, GET())
    """)
    source = source.load()
    first = source.get.src

    def value(function) -> int:
        out = np.zeros(1, np.int32)
        source.kernel[(1,)](out, function)
        return int(out[0])

    assert value(source.get) == 1
    key = source.get.cache_key
    source.get._unsafe_update_src(first.replace("1", "2"))
    assert [value(f) for f in (source.get, source.other, source.get)] == [2, 3, 2]
    source.get._unsafe_update_src(first)
    assert source.get.cache_key == key and value(source.get) == 1


def test_a_function_over_constants_with_another_text():
    two = 2

    @tile.constexpr_function
    def twice(n, more=1):
        return n * two + more

    @tile.jit
    def kernel(out):
        tl.store(out, twice(5))

    first, key = twice.src, kernel.cache_key
    assert twice(5) == 11
    twice._unsafe_update_src(first.replace("+ more", "+ more - n"))
    kernel.hash = None
    assert twice(5) == 6 and kernel.cache_key != key
    assert value_of(kernel) == 6
    twice._unsafe_update_src(first)
    kernel.hash = None
    assert twice(5) == 11 and kernel.cache_key == key


#: Where the name N is read before the kernel, which assigns it, has done so.
EARLY = {
    "before": "tl.store(out, N)\n    N = 5",
    "in its own value": "N = N + 0\n    tl.store(out, N)",
    "in an update": "N += 0\n    tl.store(out, N)",
    "behind a branch": "if FLAG:\n        N = 5\n    tl.store(out, N)",
    "behind a loop": "for i in tl.static_range(0):\n        N = i\n    tl.store(out, N)",
}


@pytest.mark.parametrize("where", EARLY)
def test_a_global_that_is_read_before_a_variable_has_its_name(module, where):
    source = module()
    source.write(
        "N = tl.constexpr(1)\n@tile.jit\ndef kernel(out, FLAG: tl.constexpr = False):\n"
        f"    {EARLY[where]}\n"
    )
    source = source.load()
    try:
        assert value_of(source.kernel) == 1
    except tile.TileError:
        return  # It is refused.
    source.N = tl.constexpr(2)
    with pytest.raises(tile.TileError, match=STALE):
        value_of(source.kernel)


def test_a_variable_that_every_path_assigns(module):
    source = module()
    source.write("""
    N = tl.constexpr(5)

    @tile.jit
    def kernel(out, FLAG: tl.constexpr = True):
        if FLAG:
            _, N = 0, 1
        else:
            N = 2
        tl.store(out, N)
    """)
    source = source.load()
    assert value_of(source.kernel) == 1
    source.N = tl.constexpr(9)
    assert value_of(source.kernel) == 1


def test_variables_of_the_same_name_are_no_business_of_the_kernel(module):
    source = module()
    source.write("""
    n = tl.constexpr(5)
    total = tl.constexpr(6)
    @tile.jit
    def kernel(out, n: tl.constexpr = 1):
        total = n
        tl.store(out, total)
    """)
    source = source.load()
    assert value_of(source.kernel) == 1
    source.n = source.total = tl.constexpr(9)
    assert value_of(source.kernel) == 1


class Shape:
    """Constants in an object that may be edited."""

    def __init__(self, n):
        self.n = n


@tile.jit
def shaped(out, shape: tl.constexpr):
    tl.store(out, shape.n)


def test_arguments_that_are_edited(module):
    shape, out = Shape(1), np.zeros(1, np.int32)
    for n in (1, 2, 1):
        shape.n = n
        shaped[(1,)](out, shape)
        assert out[0] == n


def test_a_changed_global_is_an_error_of_python_too(monkeypatch):
    """Programs written for Triton expect a RuntimeError."""

    @tile.jit
    def kernel(p):
        tl.store(p, LIMIT_OF_STALE_CODE)

    p = np.zeros(1, np.int32)
    kernel[(1,)](p)
    monkeypatch.setitem(globals(), "LIMIT_OF_STALE_CODE", tl.constexpr(2))
    with pytest.raises(
        RuntimeError,
        match=r"LIMIT_OF_STALE_CODE has changed since we compiled this kernel, from .*1.* to .*2",
    ):
        kernel[(1,)](p)


LIMIT_OF_STALE_CODE = tl.constexpr(1)
