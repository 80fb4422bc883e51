"""The examples in the docstrings of the language run in the simulator, and what is refused is.

An example is the body of a kernel. `p` points to the int32 0 to 7, `f` to the same as float32:

    >>> tl.load(p + tl.arange(0, 2))
    [0 1]

The numbers of a result are compared. What stands behind `Refused:` does not compile.
"""

from __future__ import annotations

import inspect
import operator
import re

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.language.extra import libdevice

pytestmark = sim_only

EXAMPLE = re.compile(r"((?:^>>> .*\n?)+)((?:^(?!>>>)[^\n]*\S[^\n]*\n?)*)", re.M)
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?|True|False|nan|inf")
HEADER = """import tile
import tile.language as tl
from tile.language.extra import libdevice


@tile.jit
def kernel(p, f, out):
"""

#: What the body of one kernel does not show: a class, assembly, what is printed, a helper.
WITHOUT = {
    "aggregate", "aggregate_replace", "device_print", "inline_asm_elementwise", "philox_impl",
    "static_print", "str_to_type",
}  # fmt: skip
#: Classes that kernels call as functions.
CALLED = {"range", "static_range", "condition"}


#: Slots of a tensor, which are no functions.
UNBOUND = {"dtype", "handle", "type"}
#: What takes whatever there is, or is not shown by the body of one kernel.
REFUSES_NOTHING = WITHOUT - {"aggregate_replace"} | {
    "barrier", "condition", "device_assert", "elect", "lane_id", "num_warps", "tensor.ndim",
    "tensor.numel", "warp.elect", "warp.lane_id", "warp.num_warps", "warp.size", "warp.warp_id",
    "warp_id",
}  # fmt: skip


def documented() -> dict[str, str]:
    """The docstring of each public function of the language, of `tl.math`, of the device library
    and of each member of a tensor."""
    found = {f"libdevice.{n}": getattr(libdevice, n).__doc__ or "" for n in libdevice.__all__}
    for name in tl.math.__all__:
        found[f"math.{name}"] = inspect.getdoc(getattr(tl.math, name)) or ""
    for name in dir(tl.tensor):
        member = inspect.getattr_static(tl.tensor, name)
        if name.startswith("_") or name in UNBOUND:
            continue
        found[f"tensor.{name}"] = inspect.getdoc(getattr(member, "fn", member)) or ""
    warp = [f"warp.{name}" for name in sorted(tl.warp.__all__)]
    for name in [*sorted(tl.__all__), *warp]:
        value = operator.attrgetter(name)(tl)
        if inspect.ismodule(value) or isinstance(value, tl.constexpr):
            continue
        if name in CALLED or (callable(value) and not isinstance(value, type)):
            found[name] = inspect.getdoc(getattr(value, "fn", value)) or ""
    return found


def once(found: dict[str, str]) -> dict[str, str]:
    """A function may be there by several names; `tl`'s own come last."""
    return {name: doc for doc, name in {doc: name for name, doc in found.items()}.items()}


EVERY = documented()
DOCUMENTED = once(EVERY)
EXAMPLES = [
    pytest.param(match[1], match[2], id=f"{name}-{n}")
    for name, doc in DOCUMENTED.items()
    for n, match in enumerate(EXAMPLE.finditer(doc))
]
REFUSED = [
    pytest.param(code, id=f"{name}-{n}")
    for name, doc in DOCUMENTED.items()
    for n, code in enumerate(re.findall(r"Refused: ``(.+?)``", doc, re.S))
]


def load(body: str, folder):
    """A kernel with this body."""
    path = folder / "example.py"
    path.write_text(HEADER + body)
    space: dict = {"__name__": "example", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space["kernel"]


def run(body: str, folder) -> np.ndarray:
    p, out = np.arange(8, dtype=np.int32), np.full(4096, np.nan)
    report = load(body, folder).simulate(p, p.astype(np.float32), out, grid=(1,))
    assert report.ok, report
    return out[~np.isnan(out)]


def result_of(code: str, folder) -> np.ndarray:
    lines = [line[4:] for line in code.splitlines()]
    body = [*lines[:-1], f"result = {lines[-1]}", "tl.static_assert(True)"]
    scalar = [*body, "tl.store(out, result + 0.0)"]
    block = [
        *body, "flat = tl.arange(0, result.numel).reshape(result.shape)",
        "tl.store(out + flat, result.to(tl.float64))",
    ]  # fmt: skip
    try:
        return run("".join(f"    {line}\n" for line in block), folder)
    except tile.CompilationError:
        return run("".join(f"    {line}\n" for line in scalar), folder)


@pytest.mark.parametrize(("code", "shown"), EXAMPLES)
def test_an_example_gives_what_it_shows(code, shown, tmp_path):
    expected = [float(eval(text, {"nan": np.nan, "inf": np.inf})) for text in NUMBER.findall(shown)]
    found = result_of(code, tmp_path)
    assert found.shape == (len(expected),), (code, found)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_refused_does_not_compile(code, tmp_path):
    with pytest.raises(tile.CompilationError):
        run(f"    {' '.join(code.split())}\n", tmp_path)


def test_every_function_has_an_example():
    assert {name for name, doc in EVERY.items() if ">>> " not in doc} == WITHOUT


def takes_nothing(name: str) -> bool:
    """A function without parameters has nothing to refuse."""
    value = tl
    for part in name.removeprefix("libdevice.").split("."):
        value = inspect.getattr_static(value, part, None)
    function = getattr(value, "fn", value)
    return inspect.isfunction(function) and not inspect.signature(function).parameters


def test_every_function_says_what_it_refuses():
    silent = {name for name, doc in EVERY.items() if "Refused: ``" not in doc}
    said = {name for name in REFUSES_NOTHING if not takes_nothing(name)}
    assert {name for name in silent if not takes_nothing(name)} == said
