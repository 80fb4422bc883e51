"""Waits for loads straight into LDS: how many of them may be under way."""

from __future__ import annotations

import random
import re

import ml_dtypes
import numpy as np
import pytest

import tile
import tile.language as tl
import tile.sim
from tile import _C


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "hip:gfx950")


@tile.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(
            a + m[:, None] * K + (start + k)[None, :],
            mask=(m < M)[:, None] & (start + k < K)[None, :],
            other=0.0,
        )
        right = tl.load(
            b + (start + k)[:, None] * N + n[None, :], mask=(start + k < K)[:, None], other=0.0
        )
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None])


def operands(iterations, dtype=np.float16):
    m, n, k = 200, 128, 64 * iterations - 16 * (iterations > 1)
    rng = np.random.default_rng(iterations)
    a = rng.integers(-4, 5, (m, max(k, 1))).astype(np.int8)
    b = rng.integers(-4, 5, (max(k, 1), n)).astype(np.int8)
    want = a.astype(int) @ b if k else np.zeros((m, n), int)
    a, b = (x.astype(np.float32).astype(dtype) for x in (a, b))
    return a, b, np.full((m, n), 7, np.float32), (m, n, k), want


BLOCKS = dict(BM=128, BN=64, BK=64, num_warps=4, use_async_copy=True)


def loop_of(assembly: str) -> str:
    """The innermost loop around matrix products."""
    found = re.search(
        r"^(\.LBB\w+):(?:(?!^\.LBB).)*?v_mfma.*?s_cbranch\w+ \1$", assembly, re.M | re.S
    )
    assert found
    return found[0]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_products_in_stages(stages, dtype):
    for iterations in (0, 1, 2, 3, 6):
        a, b, out, sizes, want = operands(iterations, dtype)
        product.simulate(a, b, out, *sizes, **BLOCKS, num_stages=stages, grid=(2, 2), schedules=3)
        assert (out == want).all()
    kernel = product.warmup(a, b, out, *sizes, **BLOCKS, num_stages=stages, grid=(2, 2))
    body = loop_of(kernel.asm["amdgcn"])
    loads = len(re.findall(r"load_dwordx4 .* lds", body))
    assert loads == (6 if dtype is np.float16 else 3)
    # What later iterations need may be under way; all of what this one needs is done.
    assert re.findall(r"vmcnt\((\d+)\)", body) == [str((stages - 2) * loads)]
    assert body.count("s_barrier") == 1


@pytest.mark.parametrize("stages", [2, 3])
def test_a_wait_that_is_too_short_is_found(stages):
    a, b, out, sizes, _ = operands(4)
    kernel = product.warmup(a, b, out, *sizes, **BLOCKS, num_stages=stages, grid=(2, 2))
    text = kernel.asm["amdgcn"]
    body = loop_of(text)
    left = 6 * (stages - 2)
    kinds = []
    for more in (0, 1):
        wait = f"s_waitcnt vmcnt({left + more})"
        assembly = text.replace(body, body.replace(f"s_waitcnt vmcnt({left})", wait))
        assert assembly.count(wait)
        report = tile.sim.launch(
            assembly, kernel.metadata.name, (2, 2), 256, [a, b, out, *map(np.int32, sizes)],
            dynamic_shared=kernel.metadata.shared, raise_on_finding=False,
        )  # fmt: skip
        kinds.append({finding["kind"] for finding in report.to_dict()["findings"]})
    assert not kinds[0]
    assert any("async" in kind or "wait" in kind for kind in kinds[1])


# Counts against enumeration: random programs of copies, groups, waits, loops that hand tokens on
# and branches, executed with many numbers of iterations.

SIZES = (1, 2, 4)  # instructions of a copy


class Program:
    """A random function: its text, and what it does as nested lists."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names = 0
        self.waits = 0
        self.loops = 0
        self.lines: list[str] = []
        self.body = self.block(["%g"], depth=0)

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def say(self, line: str) -> None:
        self.lines.append(line)

    def copy(self) -> int:
        size = self.rng.choice(SIZES)
        self.token = self.name()
        kind = f"{1024 * size}x"
        self.say(
            f"{self.token} = amdg.buffer_load_to_local %x[%i{size}] into %m{size} : "
            f"<f16>[tensor<{kind}i32, #b>] -> <{kind}f16, #s, #smem, mutable>"
        )
        return size

    def block(self, tokens: list[str], depth: int) -> list:
        tokens = list(tokens)
        done = []
        for _ in range(self.rng.randint(2, 5)):
            what = self.rng.choice(["group", "group", "wait", "loop", "branch"])
            if what == "group":
                sizes = [self.copy() for _ in range(self.rng.randint(0, 2))]
                tokens.append(self.name())
                self.say(f"{tokens[-1]} = ttg.async_commit_group")
                done.append(("group", sum(sizes), tokens[-1]))
            elif what == "wait":
                for_ = self.rng.sample(tokens, min(len(tokens), self.rng.randint(1, 2)))
                self.say(f"{self.name()} = ttg.async_wait {', '.join(for_)} {{num = 0 : i32}}")
                done.append(("wait", self.waits, for_))
                self.waits += 1
            elif depth < 2 and what == "branch":
                self.say("scf.if %yes {")
                done.append(("branch", self.copy()))
                self.say("}")
            elif depth < 2:
                done.append(self.loop(tokens, depth))
        return done

    def loop(self, tokens: list[str], depth: int):
        count = self.rng.randint(1, 3)
        inits = [self.rng.choice(tokens) for _ in range(count)]
        args = [self.name() for _ in range(count)]
        result = self.name()
        types = ", ".join(["!ttg.async.token"] * count)
        carried = ", ".join(f"{a} = {i}" for a, i in zip(args, inits, strict=True))
        self.say(
            f"{result}:{count} = scf.for {self.name()} = %c0 to %n step %c1 "
            f"iter_args({carried}) -> ({types}) : i32 {{"
        )
        self.loops += 1
        inner = self.block(tokens + args, depth + 1)
        inside = [*tokens, *args, *(step[2] for step in inner if step[0] == "group")]
        yields = [self.rng.choice(inside) for _ in range(count)]
        self.say(f"scf.yield {', '.join(yields)} : {types}")
        self.say("}")
        results = [f"{result}#{i}" for i in range(count)]
        tokens += results
        return ("loop", args, inits, inner, yields, results)

    def execute(self, choose: random.Random, least: dict[int, int]) -> None:
        """Notes at each wait how many loads were started behind the groups waited for."""
        issued = 0
        at = {"%g": 0}

        def run(steps) -> None:
            nonlocal issued
            for step in steps:
                match step:
                    case ("group", loads, token):
                        issued += loads
                        at[token] = issued
                    case ("branch", loads):
                        issued += loads * choose.randint(0, 1)
                    case ("wait", which, tokens):
                        now = min(issued - at[token] for token in tokens)
                        least[which] = min(least.get(which, now), now)
                    case ("loop", args, inits, inner, yields, results):
                        values = [at[token] for token in inits]
                        for _ in range(choose.choice((0, 0, 1, 1, 2, 3))):
                            at.update(zip(args, values, strict=True))
                            run(inner)
                            values = [at[token] for token in yields]
                        at.update(zip(results, values, strict=True))

        run(self.body)


def test_counts_against_enumeration():
    programs = [Program(seed) for seed in range(200)]
    text = [
        "#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [2], "
        "order = [0]}>",
        "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>",
        "#smem = #ttg.shared_memory",
        'module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, '
        'ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {',
    ]
    for number, program in enumerate(programs):
        text += [
            f"tt.func public @p{number}(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, "
            "%yes: i1, %n: i32) {",
            "%c0 = arith.constant 0 : i32",
            "%c1 = arith.constant 1 : i32",
        ]
        for size in SIZES:
            n = 1024 * size
            text += [
                f"%m{size} = ttg.local_alloc : () -> !ttg.memdesc<{n}xf16, #s, #smem, mutable>",
                f"%i{size} = tt.make_range {{end = {n} : i32, start = 0 : i32}} : "
                f"tensor<{n}xi32, #b>",
            ]
        text += ["%g = ttg.async_commit_group", *program.lines, "tt.return", "}"]
    text.append("}")
    module = _C.ir.Module.parse("\n".join(text), _C.ir.Context())
    passes = "tritonamdgpu-update-async-wait-count"
    _C.passes.PassManager.parse(passes, module.context).run(module)
    waits = 0
    for program, function in zip(programs, str(module).split("tt.func")[1:], strict=True):
        counted = [int(n) for n in re.findall(r"num_inst = (\d+)", function)]
        assert len(counted) == program.waits
        least: dict[int, int] = {}
        choose = random.Random(0)
        for _ in range(200):
            program.execute(choose, least)
        # None is too large; and none smaller than need be, of those that were reached.
        assert {which: counted[which] for which in least} == least
        waits += sum(count > 0 for count in counted)
    assert waits > 40
