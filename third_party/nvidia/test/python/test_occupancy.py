"""How many blocks are resident, and code with a few registers fewer."""

from __future__ import annotations

import os
import sys

import pytest

from tile import _C
from tile.backends import backends

occupancy = sys.modules[backends()["nvidia"].__module__].occupancy
AMPERE, GA102, HOPPER = (_C.targets.lookup(f"cuda:{arch}") for arch in (80, 86, 90))


@pytest.mark.parametrize(
    "facts, registers, warps, shared, blocks",
    [
        # By registers: a quarter of the file for a quarter of the warps.
        (HOPPER, 32, 8, 0, 8),
        (HOPPER, 40, 8, 0, 6),
        (HOPPER, 42, 8, 0, 5),
        (HOPPER, 96, 4, 0, 5),
        (HOPPER, 255, 8, 0, 1),
        (GA102, 40, 4, 0, 12),
        # By threads and blocks.
        (HOPPER, 16, 8, 0, 8),
        (HOPPER, 16, 1, 0, 32),
        (GA102, 16, 1, 0, 16),
        # By shared memory.
        (HOPPER, 32, 4, 100 << 10, 2),
        (AMPERE, 32, 4, 100 << 10, 1),
    ],
)
def test_resident_blocks(facts, registers, warps, shared, blocks):
    assert occupancy.resident_blocks(facts, registers, warps, shared) == blocks


def test_resident_blocks_with_tensor_memory():
    facts = _C.targets.lookup("cuda:100")
    assert occupancy.resident_blocks(facts, 32, 4, 0, columns=128) == 4
    assert occupancy.resident_blocks(facts, 255, 4, 0, columns=128) == 2
    assert "tensor memory" not in occupancy.block_limits(facts, 32, 4, 0)


@pytest.mark.parametrize("facts", [AMPERE, GA102, HOPPER], ids=str)
def test_fewer_registers_fill_the_file_better(facts):
    found = 0
    for warps in (1, 2, 4, 8, 16, 32):
        for shared in (0, 5000, 70000):
            counts = [occupancy.resident_blocks(facts, n, warps, shared) for n in range(1, 256)]
            for registers in range(1, 256):

                def blocks(n, counts=counts):
                    return counts[n - 1]

                fewer = occupancy.registers_for_more(facts, registers, warps, shared)
                better = [n for n in range(1, registers) if blocks(n) > blocks(registers)]
                least = 100 if better and blocks(better[-1]) in (1, 2, 4, 8, 16, 32) else 105
                if fewer is None:
                    near = [n for n in better[-1:] if 10 * n >= 8 * registers]
                    assert all(
                        100 * n * blocks(n) < least * registers * blocks(registers) for n in near
                    )
                    continue
                found += 1
                assert fewer == better[-1] and 8 * registers <= 10 * fewer < 10 * registers
                assert 100 * fewer * blocks(fewer) >= least * registers * blocks(registers)
    assert found > 100


@pytest.mark.parametrize("facts", [AMPERE, GA102, HOPPER], ids=str)
def test_registers_to_spare_cost_no_block(facts):
    found = 0
    for warps in (1, 2, 4, 8, 16, 32):
        for shared in (0, 5000, 70000):
            blocks = {n: occupancy.resident_blocks(facts, n, warps, shared) for n in range(1, 256)}
            for registers, held in blocks.items():
                spare = occupancy.registers_to_spare(facts, registers, warps, shared)
                most = max(n for n in blocks if blocks[n] >= held)
                few = 0 < 2 * 32 * warps * held <= facts.max_threads_per_sm
                assert spare == (most if few and 4 * most >= 5 * registers else None)
                found += spare is not None
    assert found > 100


#: Says that it uses as many registers as it may, up to $USES, and spills below $SPILLS. Where no
#: limit is stated, it takes $FREE.
PTXAS = """#!/bin/sh
[ "$1" = --version ] && echo "release 13.5, V13.5.1" && exit
for text in "$@"; do case "$text" in *.ptx) source="$text";; *.cubin) binary="$text";; esac; done
limit=$(sed -n 's/^\\.maxnreg //p' "$source")
used=${limit:-${FREE:-$USES}}
[ "$used" -gt "$USES" ] && used=$USES
echo "Used $used registers"
[ "$used" -lt "$SPILLS" ] && echo "16 bytes spill stores"
echo "$used" > "$binary"
"""
PTX = ".target sm_90a\n.visible .entry kernel()\n.reqntid 256\n{ ld.global.b32; }\n"
BARE = PTX.replace(".reqntid 256\n", "")


@pytest.mark.parametrize(
    "uses, spills, ptx, options, taken",
    [
        (42, 40, PTX, "", 40),
        (42, 41, PTX, "", 42),  # spilled with fewer
        (40, 0, PTX, "", 32),
        (32, 0, PTX, "", 32),  # all warps are resident
        (63, 0, PTX, "", 63),  # 48 are too few
        (42, 0, PTX.replace("ld.global", "mma.sync"), "", 42),
        (42, 0, PTX.replace("ld.global", "wgmma.mma_async"), "", 42),
        # Dots in two blocks where one was resident.
        (133, 0, PTX.replace("ld.global", "mma.sync"), "", 128),
        (133, 0, PTX.replace("ld.global", "wgmma.mma_async"), "", 128),
        (133, 129, PTX.replace("ld.global", "wgmma.mma_async"), "", 133),
        (42, 0, PTX.replace(".req", ".maxnreg 44\n.req"), "", 42),  # stated
        (42, 0, PTX, "--maxrregcount=44", 42),
        (42, 0, BARE, "", 40),
        (42, 0, BARE.replace("\n{", "{"), "", 40),
        (42, 0, PTX + BARE.replace("kernel", "other"), "", 42),  # of which of the two
        (42, 0, BARE.replace(".entry", ".func"), "", 42),
    ],
)
def test_code_with_fewer_registers(uses, spills, ptx, options, taken, tmp_path, monkeypatch):
    path = tmp_path / "ptxas"
    path.write_text(PTXAS)
    os.chmod(path, 0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))
    monkeypatch.setenv("USES", str(uses))
    monkeypatch.setenv("SPILLS", str(spills))
    cubin, usage = occupancy.assemble(ptx, HOPPER, 8, 64, options)
    assert (int(cubin), usage["n_regs"]) == (taken, taken)
    assert usage.get("n_spills", 0) == 0
    assert usage.get("register_limit", uses) == taken


def test_fewer_registers_than_an_instruction_has_operands(tmp_path, monkeypatch):
    """ptxas refuses a limit that is too low for one instruction: then there is none."""
    path = tmp_path / "ptxas"
    refused = '{ echo "Insufficient registers ($limit) for target of 133"; exit 1; }'
    path.write_text(PTXAS.replace("used=", f'[ "${{limit:-133}}" -lt 133 ] && {refused}\nused=', 1))
    os.chmod(path, 0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))
    monkeypatch.setenv("USES", "133")
    monkeypatch.setenv("SPILLS", "0")
    cubin, usage = occupancy.assemble(PTX.replace("ld.global", "mma.sync"), HOPPER, 8, 64)
    assert int(cubin) == usage["n_regs"] == 133 and "register_limit" not in usage


@pytest.mark.parametrize(
    "uses, free, spills, stated, asked, taken",
    [
        (100, 60, 0, 255, None, 60),
        (100, 42, 40, 255, None, 40),  # and fewer still
        (100, 60, 61, 255, None, 100),  # spilled without
        (60, 57, 0, 255, None, 60),  # as many blocks
        (100, 60, 0, 255, 255, 100),  # asked for
        (100, 60, 0, 128, None, 100),  # a limit in fact
    ],
)
def test_a_limit_that_is_none(uses, free, spills, stated, asked, taken, tmp_path, monkeypatch):
    """To state what a thread can have anyway makes ptxas use it, whatever it does to blocks."""
    path = tmp_path / "ptxas"
    path.write_text(PTXAS)
    os.chmod(path, 0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))
    monkeypatch.setenv("USES", str(uses))
    monkeypatch.setenv("FREE", str(free))
    monkeypatch.setenv("SPILLS", str(spills))
    ptx = PTX.replace(".req", f".maxnreg {stated}\n.req")
    cubin, usage = occupancy.assemble(ptx, HOPPER, 8, 64, asked=asked)
    assert (int(cubin), usage["n_regs"]) == (taken, taken)


@pytest.mark.parametrize(
    "warps, stated, used, free, runs",
    [
        (8, 255, 100, 60, [255, None, 128]),
        (8, 255, 100, 100, [255, None]),
        # What states as much again is known.
        (16, 128, 88, 58, [128, None]),
        (16, 128, 100, 63, [128, None]),
        # One block more needs half as many.
        (32, 64, 64, 32, [64]),
        (16, 128, 128, 58, [128]),
        (16, 128, 126, 58, [128, None]),
    ],
)
def test_runs_without_a_limit_that_is_none(warps, stated, used, free, runs, monkeypatch):
    seen = []

    def run_ptxas(ptx, arch, extra):
        limit = occupancy._STATED.search(ptx)
        seen.append(int(limit[1]) if limit else None)
        taken = used if limit else free
        return str(taken).encode(), {"n_regs": taken, "n_spills": 0}

    walk = occupancy.latency.Walk(instructions=100, alone=100000, trips=8)
    monkeypatch.setattr(occupancy.latency, "walk_through", lambda _: walk)
    monkeypatch.setattr(occupancy.tools, "run_ptxas", run_ptxas)
    monkeypatch.setattr(occupancy, "registers_for_more", lambda *_: None)
    ptx = PTX.replace(".reqntid 256", f".maxnreg {stated}\n.reqntid {32 * warps}")
    cubin = occupancy.assemble(ptx, HOPPER, warps, 64)[0]
    assert seen == runs
    assert int(cubin) == (free if None in runs and free < used else used)


@pytest.mark.parametrize(
    "uses, spills, stated, asked, taken",
    [
        (100, 90, 80, None, 100),  # two blocks for three
        (100, 0, 80, None, 80),
        (100, 110, 80, None, 80),  # spilled with more, too
        (100, 90, 80, 80, 80),  # asked for
        (240, 200, 168, None, 168),  # there is one block
    ],
)
def test_a_limit_that_spills(uses, spills, stated, asked, taken, tmp_path, monkeypatch):
    """A block more is not worth spills."""
    path = tmp_path / "ptxas"
    path.write_text(PTXAS)
    os.chmod(path, 0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))
    monkeypatch.setenv("USES", str(uses))
    monkeypatch.setenv("SPILLS", str(spills))
    ptx = PTX.replace(".req", f".maxnreg {stated}\n.req")
    cubin, usage = occupancy.assemble(ptx, HOPPER, 8, 64, asked=asked)
    assert (int(cubin), usage["n_regs"]) == (taken, taken)
    assert ("register_limit" in usage) == (taken > stated)


_LOOP = PTX.replace("{ ld", "{\n$L__BB0_1:\nld").replace("}", "bra.uni $L__BB0_1;\n}")
#: 64 registers in each iteration; the second loop loads half as many.
_LOADS = "\n".join(["@%p1 ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];"] * 16)
_MANY = _LOOP.replace("ld.global.b32;", f"{_LOADS}\nmma.sync;")
_FEWER = _LOOP.replace("ld.global.b32;", f"{_LOADS[: len(_LOADS) // 2]}\nmma.sync;")
_BEFORE = PTX.replace("{ ld.global.b32;", f"{{\n{_LOADS}\n$L__BB0_1:\nmma.sync;\nbra $L__BB0_1;")
_OUTER = _LOOP.replace("ld.global.b32;", f"\n$L__BB0_2:\nmma.sync;\nbra $L__BB0_2;\n{_LOADS}")
_BRANCH = PTX.replace("{", "{\nbra $L__BB0_1;\n").replace("}", "\n$L__BB0_1:\n}")


@pytest.mark.parametrize(
    "uses, free, spills, ptx, taken",
    [
        (128, 100, 90, PTX, 128),  # 80 spilled, and two blocks reside with both
        (120, 100, 90, PTX, 120),
        (128, 100, 90, _BRANCH, 128),
        (128, 100, 90, _LOOP, 100),
        (128, 100, 90, PTX.replace("{", "{ mma.sync;"), 100),
        (128, 100, 90, PTX.replace("ld.global", "ld.shared"), 100),
        (128, 104, 104, PTX, 104),  # not many more
        (128, 100, 0, PTX, 80),  # three blocks
        (64, 42, 41, PTX, 42),  # enough warps
    ],
)
def test_registers_that_cost_no_block(uses, free, spills, ptx, taken, tmp_path, monkeypatch):
    path = tmp_path / "ptxas"
    path.write_text(PTXAS)
    os.chmod(path, 0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))
    monkeypatch.setenv("USES", str(uses))
    monkeypatch.setenv("FREE", str(free))
    monkeypatch.setenv("SPILLS", str(spills))
    cubin, usage = occupancy.assemble(ptx, HOPPER, 8, 64)
    assert (int(cubin), usage["n_regs"]) == (taken, taken)


@pytest.mark.parametrize(
    "uses, free, spills, trips, ptx, taken",
    [
        (128, 100, 90, 8, _MANY, 128),
        (128, 100, 90, 3, _MANY, 100),  # waits for little
        (128, 100, 129, 8, _MANY, 100),  # spills
        (104, 100, 90, 8, _MANY, 100),  # waits as often
        (128, 100, 90, 8, _FEWER, 100),
        (128, 100, 90, 8, _BEFORE, 100),
        (128, 100, 90, 8, _OUTER, 100),
        # Without a loop, one block less: two for three.
        (128, 71, 70, 8, PTX, 128),
        (128, 71, 70, 3, PTX, 71),
        (80, 71, 70, 8, PTX, 71),
        (128, 71, 70, 8, PTX.replace("{", "{ mma.sync;"), 71),
    ],
)
def test_more_registers_for_fewer_waits(
    uses, free, spills, trips, ptx, taken, tmp_path, monkeypatch
):
    """With few registers a warp waits `trips` times, and with 120 once."""

    def walk_through(code):
        waits = trips if int(code) < 120 else 1
        return latency.Walk(instructions=100, alone=100 + 800 * waits, trips=waits)

    latency = occupancy.latency
    monkeypatch.setattr(latency, "walk_through", walk_through)
    path = tmp_path / "ptxas"
    path.write_text(PTXAS)
    os.chmod(path, 0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))
    monkeypatch.setenv("USES", str(uses))
    monkeypatch.setenv("FREE", str(free))
    monkeypatch.setenv("SPILLS", str(spills))
    cubin, usage = occupancy.assemble(ptx, HOPPER, 8, 64)
    assert (int(cubin), usage["n_regs"]) == (taken, taken)


_DOT = PTX.replace("{ ld", "{ mma.sync;\nld")
_TWO_LOADS = _LOOP.replace("ld.global.b32;", "ld.global.b32;\nld.global.b32;")


@pytest.mark.parametrize(
    "ptx, used, trips, spills, limits",
    [
        # Six blocks of 8 warps have 40 registers, and five 48.
        (_TWO_LOADS, 38, {None: 5, 40: 2}, 0, [40]),
        (_TWO_LOADS, 40, {None: 5, 40: 5, 48: 2}, 0, [40, 48]),
        (_TWO_LOADS, 40, {None: 5, 40: 5, 48: 5}, 0, [40, 48, None]),
        (_TWO_LOADS, 40, {None: 3}, 0, [None]),  # waits for little
        (_TWO_LOADS, 40, {None: 5}, 4, [None]),
        (_TWO_LOADS, 32, {None: 5, 32: 5}, 0, [32, None]),  # seven blocks have no more
        (_TWO_LOADS, 24, {None: 5}, 0, [None]),  # 32 would do
        (_LOOP, 40, {None: 5}, 0, [None]),  # one load in each iteration
        (_TWO_LOADS.replace("bra.uni", "mma.sync;\nbra.uni"), 40, {None: 5}, 0, [None]),
        # Dots without a loop, of which no block is lost.
        (_DOT, 138, {None: 5, 255: 2}, 0, [255]),
        (_DOT, 90, {None: 5, 128: 5}, 0, [128, None]),
        (_DOT, 90, {None: 3}, 0, [None]),
        (_DOT.replace("ld.global", "ld.shared"), 90, {None: 5}, 0, [None]),
        # One block of 32 warps has all, and none would reside with more.
        (_TWO_LOADS, 64, {None: 5, 64: 5}, 0, [64, None]),
    ],
)
def test_loads_that_start_together(ptx, used, trips, spills, limits, monkeypatch):
    """ptxas tries `limits`, and the last one stays. With each of them a warp waits that often."""
    tried = []

    def run_ptxas(text, arch, extra):
        stated = occupancy._STATED.search(text)
        limit = int(stated[1]) if stated else None
        if stated:
            tried.append(limit)
        registers = used if limit is None else limit
        return str(limit).encode(), {"n_regs": registers, "n_spills": spills}

    def walk_through(code):
        waits = trips[None if code == b"None" else int(code)]
        return occupancy.latency.Walk(instructions=100, alone=100 + 800 * waits, trips=waits)

    monkeypatch.setattr(occupancy.latency, "walk_through", walk_through)
    monkeypatch.setattr(occupancy.tools, "run_ptxas", run_ptxas)
    monkeypatch.setattr(occupancy, "registers_for_more", lambda *_: None)
    cubin, usage = occupancy.assemble(ptx, HOPPER, 32 if used == 64 else 8, 64)
    taken = limits[-1]
    assert tried == [limit for limit in limits if limit is not None]
    assert cubin == str(taken).encode()
    assert usage.get("register_limit") == taken


@pytest.mark.parametrize("spilled, taken", [(2, 128), (8, 128), (9, 71)])
def test_a_few_spills_for_fewer_waits(spilled, taken, monkeypatch):
    def run_ptxas(ptx, arch, extra):
        stated = occupancy._STATED.search(ptx)
        used = int(stated[1]) if stated else 71
        return str(used).encode(), {"n_regs": used, "n_spills": spilled if stated else 0}

    def walk_through(code):
        waits = 8 if int(code) < 120 else 1
        return occupancy.latency.Walk(instructions=100, alone=100 + 800 * waits, trips=waits)

    monkeypatch.setattr(occupancy.latency, "walk_through", walk_through)
    monkeypatch.setattr(occupancy.tools, "run_ptxas", run_ptxas)
    cubin, usage = occupancy.assemble(PTX, HOPPER, 8, 64)
    assert int(cubin) == usage["n_regs"] == taken
    assert usage["n_spills"] == (spilled if taken == 128 else 0)


@pytest.mark.parametrize(
    "used, cycles, trips, loads, runs",
    [
        # Blocks of 8 warps with 64 words for each thread: 64 KiB, which 1,638 cycles bring, and of
        # which 1,024 cycles bring plenty. Three blocks reside, and four with 64 registers.
        (71, 3072, 8, _LOADS, ["free"]),
        (71, 3073, 8, _LOADS, ["free", 64]),
        (71, 4915, 8, _LOADS, ["free", 64]),
        (71, 4916, 8, _LOADS, ["free", 128, 64]),
        (71, 4916, 6, _LOADS, ["free", 64, 128]),
        (71, 4916, 3, _LOADS, ["free", 64]),
        (71, 2457, 8, _LOADS[: len(_LOADS) // 2], ["free", 64]),
        (71, 2458, 8, _LOADS[: len(_LOADS) // 2], ["free", 128, 64]),
        # Four reside, and five with 48 registers.
        (52, 6553, 3, _LOADS, ["free"]),
        (52, 6554, 3, _LOADS, ["free", 48]),
        # Two reside, also with 128 registers, and three with 80.
        (100, 1638, 8, _LOADS, ["free"]),
        (100, 1639, 8, _LOADS, ["free", 128]),
        (100, 2048, 8, _LOADS, ["free", 128]),
        (100, 2049, 8, _LOADS, ["free", 80, 128]),
    ],
)
def test_kernels_that_ask_for_enough(used, cycles, trips, loads, runs, monkeypatch):
    """Where all blocks ask for enough, registers that cost blocks are not tried, and fewer only for
    a third more blocks. Where half of the blocks ask for enough, no more registers are tried.
    Where all ask for plenty, fewer are not tried. After many waits more registers come first."""
    seen = []

    def run_ptxas(ptx, arch, extra):
        stated = occupancy._STATED.search(ptx)
        seen.append(int(stated[1]) if stated else "free")
        spilled = 99 if stated and int(stated[1]) < used else 0
        return b"", {"n_regs": int(stated[1]) if stated else used, "n_spills": spilled}

    walk = occupancy.latency.Walk(instructions=100, alone=cycles, trips=trips)
    monkeypatch.setattr(occupancy.latency, "walk_through", lambda _: walk)
    monkeypatch.setattr(occupancy.tools, "run_ptxas", run_ptxas)
    occupancy.assemble(PTX.replace("ld.global.b32;", loads), HOPPER, 8, 64)
    assert seen == runs


@pytest.mark.parametrize("trips, taken", [(5, 64), (7, 64), (8, 72), (10, 72)])
def test_more_blocks_that_wait_more_often(trips, taken, monkeypatch):
    """With 64 registers 32 blocks reside for 28, and a warp waits so often, for five times."""

    def run_ptxas(ptx, arch, extra):
        stated = occupancy._STATED.search(ptx)
        used = int(stated[1]) if stated else 72
        return str(used).encode(), {"n_regs": used}

    def walk_through(code):
        waits = trips if int(code) < 72 else 5
        return occupancy.latency.Walk(instructions=10, alone=1000 * waits, trips=waits)

    monkeypatch.setattr(occupancy.latency, "walk_through", walk_through)
    monkeypatch.setattr(occupancy.tools, "run_ptxas", run_ptxas)
    cubin, usage = occupancy.assemble(_BEFORE.replace("mma.sync;", "bar;"), HOPPER, 1, 0)
    assert int(cubin) == usage["n_regs"] == taken


def _dots(rows: int, bytes_: int) -> str:
    """A loop that copies `bytes_` for each thread, and multiplies `rows` with a byte."""
    dots = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {};\n" * (rows * bytes_ // 64)
    copies = "cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;\n" * (bytes_ // 16)
    return _LOOP.replace("ld.global.b32;", f"{copies}{dots}")


@pytest.mark.parametrize(
    "uses, spills, ptx, taken, spilled",
    [
        (76, 0, _dots(8, 128), 64, 0),  # eight blocks for six
        (76, 70, _dots(8, 128), 64, 4),
        (76, 70, _dots(8, 128).replace("cp.async", "ld.shared"), 76, 0),
        (76, 0, _dots(16, 128), 76, 0),
        (76, 0, _dots(8, 128).replace("mma.sync", "wgmma.mma_async.sync"), 76, 0),
        (90, 0, _dots(8, 128), 90, 0),  # seven for five are not a power of two
        (72, 0, _dots(8, 128), 72, 0),  # eight for seven
    ],
)
def test_dots_that_wait_for_memory(uses, spills, ptx, taken, spilled, tmp_path, monkeypatch):
    """A third more blocks hide more of what a loop waits for, even if a few values are spilled."""
    path = tmp_path / "ptxas"
    path.write_text(PTXAS)
    os.chmod(path, 0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))
    monkeypatch.setenv("USES", str(uses))
    monkeypatch.setenv("SPILLS", str(spills))
    cubin, usage = occupancy.assemble(ptx.replace("256", "128"), HOPPER, 4, 64)
    assert (int(cubin), usage["n_regs"]) == (taken, taken)
    assert usage.get("n_spills", 0) == spilled


@pytest.mark.parametrize(
    "text, words",
    [
        ("ld.global.b32 %r1, [%rd1];", 1),
        ("@%p1 ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];", 4),
        ("ld.global.L1::evict_last.v2.b64 {%rd1, %rd2}, [%rd3];", 4),
        ("ld.relaxed.gpu.global.b16 %rs1, [%rd1];", 1),
        ("ld.volatile.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", 4),
        ("ld.global.nc.L2::cache_hint.v8.b32 {}, [%rd1], %rd2;", 8),
        ("ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r5];", 0),
        ("cp.async.cg.shared.global [%r1], [%rd1], 16;", 0),
    ],
)
def test_words_that_are_loaded(text, words):
    assert occupancy._count_loaded_words(f"\t{text}\n\t{text}\n") == 2 * words


@pytest.mark.skipif(occupancy.tools.ptxas_path() is None, reason="needs ptxas")
@pytest.mark.parametrize("directives", ["", ".maxntid 256, 1, 1", ".reqntid 256"])
def test_what_is_stated_is_taken(directives):
    """ptxas gives threads no more than the limit says, whatever stands in the head."""
    ptx = f"""
.version 8.0
.target sm_90a
.address_size 64
// The .entry of a comment {{ is none.
.visible .entry kernel(.param .u64 p,
  .param .u32 n) {directives}
{{
  .reg .b64 %a;
  .reg .b32 %r<64>;
  ld.param.b64 %a, [p];
  {"".join(f"ld.volatile.global.b32 %r{i}, [%a+{4 * i}];" for i in range(60))}
  {"".join(f"st.volatile.global.b32 [%a+{4000 - 4 * i}], %r{i};" for i in range(60))}
  ret;
}}
"""
    _, free = occupancy.tools.run_ptxas(ptx, 90, "")
    limited = occupancy.state_limit(ptx, 32)
    _, usage = occupancy.tools.run_ptxas(limited, 90, "")
    assert free["n_regs"] > 32 >= usage["n_regs"]
