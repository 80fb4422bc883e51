"""Each atomic operation has the order and the scope that it was asked for, in PTX."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[4] / "build/bin/tile-opt"

INTEGERS = ("i16", "i32", "i64")
OPERATIONS = [
    *[
        (op, t)
        for op in ("and", "or", "xor", "add", "max", "min", "umax", "umin")
        for t in INTEGERS
    ],
    *[("fadd", t) for t in ("f16", "bf16", "f32", "f64")],
    *[("exch", t) for t in (*INTEGERS, "f16", "bf16", "f32", "f64")],
    *[("cas", t) for t in (*INTEGERS, "f16", "bf16", "f32", "f64")],
    # What leaves memory as it is may be a load.
    *[("or of zero", t) for t in INTEGERS],
]
SEMANTICS = {
    "relaxed": set(),
    "acquire": {"acquire"},
    "release": {"release"},
    "acq_rel": {"acquire", "release"},
}
SCOPES = ("cta", "gpu", "sys")
#: From the narrowest.
PTX_SCOPES = ("cta", "cluster", "gpu", "sys")
ACCESS = re.compile(r"^\s*(?:@\S+ )?((?:atom|red|ld\.(?:acquire|relaxed))\.[\w.:]+)", re.MULTILINE)


def function(name: str, sem: str, scope: str, used: bool, size: int) -> str:
    """A function with all of the operations, one after the other, on a tensor for each type."""
    types = dict.fromkeys(t for _, t in OPERATIONS)
    tensors = {t: f"tensor<{size}x{t}, #blocked>" for t in types}
    pointers = {t: f"tensor<{size}x!tt.ptr<{t}>, #blocked>" for t in types}
    arguments = [f"%p{t}: {pointers[t]}, %v{t}: {tensors[t]}" for t in types]
    lines = [f"tt.func public @{name}({', '.join(arguments)}) {{"]
    for i, (op, t) in enumerate(OPERATIONS):
        p, v = f"%p{t}", f"%v{t}"
        result = f"-> {tensors[t]}"
        signature = f"({pointers[t]}, {tensors[t]}) {result}"
        if op == "cas":
            lines.append(
                f"%r{i} = tt.atomic_cas {sem}, {scope}, {p}, {v}, {v} : "
                f"({pointers[t]}, {tensors[t]}, {tensors[t]}) {result}"
            )
        elif op == "or of zero":
            lines.append(f"%z{i} = arith.constant dense<0> : {tensors[t]}")
            lines.append(f"%r{i} = tt.atomic_rmw or, {sem}, {scope}, {p}, %z{i} : {signature}")
        else:
            lines.append(f"%r{i} = tt.atomic_rmw {op}, {sem}, {scope}, {p}, {v} : {signature}")
        if used:
            lines.append(f"tt.store {p}, %r{i} : {pointers[t]}")
    return "\n".join([*lines, "tt.return", "}"])


def ptx_of(functions: str, target: str, blocks: int) -> str:
    head = (
        "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], "
        f"order = [0]{', CGALayout = [[1]]' if blocks > 1 else ''}}}>\n"
        f'module attributes {{"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = {blocks} : i32, '
        f'"ttg.threads-per-warp" = 32 : i32, ttg.target = "{target}"}} {{\n'
    )
    done = subprocess.run(
        [TOOL, "-", "-tile-nvidia-llir", "-tile-nvidia-ptx", "-o", "/dev/null"],
        input=head + functions + "\n}\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not TOOL.exists(), reason="no build beside the source")
@pytest.mark.parametrize(
    ("target", "blocks"), [("cuda:75", 1), ("cuda:80", 1), ("cuda:90", 1), ("cuda:90", 2),
                           ("cuda:100", 1), ("cuda:120", 1)],
)  # fmt: skip
def test_no_operation_is_weaker_than_asked(target, blocks):
    cases = {
        f"{sem}_{scope}_{'used' if used else 'dropped'}": (sem, scope, used)
        for sem in SEMANTICS
        for scope in SCOPES
        for used in (True, False)
    }
    functions = [function(name, *case, size=32 * blocks) for name, case in cases.items()]
    ptx = ptx_of("\n".join(functions), target, blocks)
    bodies = dict(re.findall(r"^\.visible \.entry (\w+)\((.*?)^}", ptx, re.MULTILINE | re.DOTALL))
    assert bodies.keys() == cases.keys()
    weak = []
    for name, (sem, scope, _) in cases.items():
        found = ACCESS.findall(bodies[name])
        # A loop around compare-and-swap begins with a load.
        found = [
            text for text, after in zip(found, [*found[1:], ""], strict=True)
            if not (text.startswith("ld.relaxed") and ".cas." in after)
        ]  # fmt: skip
        assert len(found) == len(OPERATIONS), (name, found)
        for asked, text in zip(OPERATIONS, found, strict=True):
            words = text.split(".")
            order = next((w for w in words if w in SEMANTICS), "relaxed")
            # That is what PTX takes where nothing is said.
            there = next((w for w in words if w in PTX_SCOPES), "gpu")
            least = "cluster" if scope == "cta" and blocks > 1 else scope
            if not SEMANTICS[sem] <= SEMANTICS[order] or (
                PTX_SCOPES.index(there) < PTX_SCOPES.index(least)
            ):
                weak.append((name, asked, text))
    assert weak == []
