"""Random kernels, interpreted and compiled: both must agree. See docs/howto/fuzz.md."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from machines import AMD_TARGETS
from reference import sim_only

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fuzz import cli, gluon, options, runner
from fuzz.generator import generate
from fuzz.passes import sequence
from fuzz.program import Argument, Config, Program
from fuzz.reducer import reduce

from tile.runtime import overlap

pytestmark = sim_only

#: How many seeds a test runs.
CHUNK = 25

#: The programs of seeds that several tests look at.
known = functools.cache(generate)


def chunks(seeds: int, of_all: int, start: int = 0) -> list:
    """First seeds of chunks. All but `seeds` of them, from `start` on, are for `make test-all`."""
    return [
        pytest.param(first, marks=[] if start <= first < start + seeds else [pytest.mark.slow])
        for first in range(0, of_all, CHUNK)
    ]


@pytest.mark.parametrize("first", chunks(100, of_all=2000))
def test_interpreter_and_compiler_agree(first):
    failures = cli.chunk(first, CHUNK, "interpret")
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )


@pytest.mark.parametrize("first", chunks(50, of_all=500))
def test_kernels_compute_what_python_does(first):
    failures = cli.chunk(first, CHUNK, "python")
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )


def machine(seed):
    return known(seed).config.machine


@pytest.mark.parametrize("target", [*AMD_TARGETS, "hip:gfx1201"])
# LLVM's register allocator takes 12 s for one of the first 25 kernels, on RDNA.
@pytest.mark.parametrize("first", chunks(CHUNK, of_all=500, start=CHUNK))
def test_interpreter_and_code_for_amd_agree(first, target):
    failures = cli.chunk(first, CHUNK, "interpret", target=target)
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )


@pytest.mark.parametrize("first", chunks(CHUNK, of_all=400))
def test_passes_in_any_order(first):
    failures = cli.chunk(first, CHUNK, "passes")
    assert not failures, "\n".join(
        f"seed {f['seed']}, {sequence(f['seed'], machine(f['seed']))}: {f['kind']}: "
        f"{f['message'][:500]}"
        for f in failures
    )


@pytest.mark.parametrize("target", ["", "hip:gfx942"])
@pytest.mark.parametrize("first", chunks(CHUNK, of_all=400))
def test_undefined_elements_are_found_where_they_matter(first, target):
    failures = cli.chunk(first, CHUNK, "undefined", target=target)
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )


@pytest.mark.parametrize("target", ["", "hip:gfx942"])
@pytest.mark.parametrize("first", chunks(CHUNK, of_all=400))
def test_blocks_of_any_shape(first, target):
    failures = cli.chunk(first, CHUNK, "shapes", target=target)
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )


@pytest.mark.parametrize("first", chunks(CHUNK, of_all=200, start=100))
def test_programs_of_two_blocks(first):
    failures = cli.chunk(first, CHUNK, "cluster")
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )


@pytest.mark.parametrize("first", chunks(CHUNK, of_all=200, start=100))
def test_loops_whose_loads_have_warps_of_their_own(first):
    failures = cli.chunk(first, CHUNK, "specialized")
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )


@pytest.mark.parametrize("mode", ["partitions", "products", "programs"])
@pytest.mark.parametrize("first", chunks(CHUNK, of_all=50))
def test_loops_for_partitions_of_warps(first, mode):
    failures = cli.chunk(first, CHUNK, mode)
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )


@pytest.mark.parametrize("target", ["", "hip:gfx950", "hip:gfx1200"])
@pytest.mark.parametrize("first", chunks(CHUNK, of_all=800))
def test_programs_with_explicit_layouts(first, target):
    failures = cli.chunk(first, CHUNK // (2 if target else 1), "gluon", target=target)
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )


@pytest.mark.parametrize("target", gluon.MACHINES)
def test_waits_that_are_missing_in_programs_with_layouts_are_found(target):
    found = []
    for seed in range(40):
        program = gluon.generate(seed, target)
        without = program.source.replace("wait_group(", "wait_group(9 + ")
        if (
            "_group()" not in program.source.replace("wait_group(0)", "")
            or without.count("_to_shared(" if "hip" in target else "async_load(") < 2
        ):
            continue
        try:
            runner.check(program.replace(source=without), "gluon")
            found.append(False)
        except runner.Failure:
            found.append(True)
        if len(found) == 5:
            break
    assert found and all(found), found


def test_large_programs_are_told_from_endless_ones():
    """What takes long is run once more with a larger budget; what does not end is reported."""
    program = Program(
        0,
        "import tile\nimport tile.language as tl\n\n"
        "@tile.jit\ndef kernel(o0):\n"
        "    v = tl.arange(0, 32)\n"
        "    for i in tl.range(0, 500):\n"
        "        v += tl.load(o0 + 0)\n"
        "        tl.debug_barrier()\n"
        "    tl.store(o0 + tl.arange(0, 32), v)\n",
        (Argument("o0", "output", "i32", size=32, flavour="zero"),),
    )
    found, _ = runner.compiled(program, limits=(100, 1_000_000))
    assert (found["o0"] == np.arange(32)).all()
    with pytest.raises(runner.Failure, match="did not end within 200 warp instructions"):
        runner.compiled(program, limits=(100, 200))


def test_a_seed_makes_one_program():
    for seed in range(20):
        assert gluon.generate(seed) == gluon.generate(seed)
        first, second = generate(seed), generate(seed)
        assert first == second
        a, b = first.inputs(), second.inputs()
        assert all(np.array_equal(a[k].view("u1"), b[k].view("u1")) for k in a
                   if isinstance(a[k], np.ndarray))  # fmt: skip


def test_programs_reach_most_of_the_language():
    text = "".join(known(seed).source for seed in range(400))
    called = set(re.findall(r"\btl\.(\w+)\(", text))
    assert called >= {
        "arange", "argmax", "associative_scan", "atomic_add", "atomic_cas", "broadcast_to", "cat",
        "cumsum", "dot", "exp", "expand_dims", "fma", "full", "gather", "histogram", "interleave",
        "join", "load", "make_block_ptr", "make_tensor_descriptor", "max", "minimum", "permute",
        "program_id", "randint", "reduce", "reshape", "sort", "split", "static_range", "store",
        "sum", "umulhi", "where", "xor_sum",
    }  # fmt: skip
    for statement in (
        "while ", "for ", "if ", "else:", "break", "continue", "return ", "noinline", " // (-",
        " % (-", ".to(tl.int64)", "debug_barrier", "atomic_xchg",
    ):  # fmt: skip
        assert statement in text
    # Some are rare.
    formulas = "".join(a.known for seed in range(800) for a in known(seed).arguments)
    for name in ("sort", "cumsum", "argmax", "bincount", "maximum", "astype(np.uint64)"):
        assert f"np.{name}" in formulas or name in formulas, name
    taken = [a.known for seed in range(400) for a in known(seed).arguments if "take" in a.known]
    assert len(taken) > 20 and any("-1," in text for text in taken)


#: What the source of a program must have, for how many of 1000 programs at least.
COVERED = {
    "a loop near the end of a type": (r"in tl\.range\(b\d+, ", 180),
    "a step that is loaded": (r"in tl\.range\(b\d+, .*, tl\.load", 30),
    "numbers that are handed on": (r"(?m)^ +k\d+ = k\d+\n +k\d+ = k\d+", 45),
    "values that are handed on": (
        r"(?m)^ +v\d+ = v\d+ \* 3 \+ v\d+.*\n( +v\d+ = .*\n)* +(v\d+, )*v\d+,? = (k|v)\d+",
        60,
    ),
    "sums that change places": (r"(?m)^ +v\d+, v\d+.* = .*tl\.dot\(", 40),
    "a carried pointer": (r"(?m)^ +(p\d+) = o\d.*\n(.*\n)* +\1 \+= \d+$", 20),
    "a carried pointer in a while loop": (r"\n( +)while i\d+ < \w+:(\n\1 .*)*\n\1 +p\d+ \+= ", 10),
    "a lock": (r"while tl\.atomic_cas\(a\d+, 0, 1.*\) == 1:", 20),
    "a flag that is waited for": (r"while tl\.atomic_add\(.*sem='acquire'\) != pid", 10),
    "a scalar among blocks": (r"tl\.store\(o\d+.* \+ \d+, v\d+ \* 2 \+ 1\)", 20),
    "the last program": (r"if tl\.atomic_add\(.*\) == \d", 20),
    "a product before a loop": (r"(?m)^    v\d+ = tl\.dot\((.*\n)* +for ", 20),
    "a product in a loop": (r"(?m)^        .*tl\.dot\(", 50),
    "64-bit offsets": (r"tl\.load\(.*\.to\(tl\.int64\)", 10),
    "a mask from a quotient": (r"mask=.* // ", 10),
    "a mask from a remainder": (r"mask=.* % ", 20),
    "a descriptor": (r"make_tensor_descriptor", 40),
    "a descriptor in a loop": (r"(?m)^        v\d+ = d\d+\.load\(\[k\d+ \* ", 10),
    "a product through descriptors": (
        r"(?m)^ +(v\d+) = d\d+\.load\(.*\n +(v\d+) = d\d+\.load\(.*\n(.*\n)?"
        r" +v\d+ = tl\.dot\(\1, \2",
        30,
    ),
    "a specialised loop": (r"warp_specialize=True", 40),
    "a called function": (r"noinline=True", 40),
    "a counter of 64 bits": (r"(?m)^    for i\d+ in tl\.range\(.*w\d", 5),
    "a loop that is returned from": (r"for i\d+ in tl\.range\(a, b, (.*\n)*? +return v\n", 8),
    "a product in a microscaling format": (r"tl\.dot_scaled\(", 15),
    "a function that calls another": (
        r"(?m)^def g\d+\((.*\n)+?( .*\n)*? +.* = g\d+\((.*\n)+?def kernel",
        8,
    ),
    "a function of several numbers": (r"tl\.map_elementwise\(m\d+, v\d+, v", 8),
    "an assertion under a mask": (r"tl\.device_assert\(.*mask=", 12),
    "an assertion of a number": (r"(?m)^ +assert ", 2),
    "a function of two elements": (r"tl\.map_elementwise\(.*pack=2", 5),
    "a called function of pointers": (r"noinline=True\)\ndef h\d+\(p, q", 10),
}


def check_kinds(programs, kinds):
    for what, (pattern, least) in kinds.items():
        found = sum(re.search(pattern, program.source) is not None for program in programs)
        assert found >= least, f"{what}: in {found} of {len(programs)} programs"


def test_all_kinds_are_generated():
    check_kinds([known(seed) for seed in range(1000)], COVERED)


#: The same of programs for partitions of warps, for how many of 300.
COVERED_BY_PARTITIONS = {
    "a loop near the end of a type": (r"in tl\.range\(b\d+, ", 40),
    "numbers that are handed on": (r"(?m)^ +k\d+ = k\d+\n +k\d+ = k\d+", 12),
    "a nest": (r"(?m)^    for s\d+ in (.*\n)+?        for k\d+ in ", 70),
    "two loops for a sum": (
        r"(?m)^( +)for k\d+ in .*\n(\1 .*\n)+?\1 +(v\d+) = tl\.dot\(.*\n(\1 .*\n)*"
        r"\1for k\d+ in .*\n(\1 .*\n)+?\1 +\3 = tl\.dot\(",
        40,
    ),
    "a tile of rank 3": (r"(?m)^ {8}.*load\(.*(\.reshape\(|, \[\d+, \d+\]\)$)", 60),
    "a descriptor made by the caller": (r"= x\d+\.load\(\[", 60),
    "a block pointer that moves": (r"tl\.advance\(", 60),
    "an operand under a mask": (r"(?m)^ {8}.*tl\.load\(.*mask=.*other=1", 8),
    "a product of a product": (r"tl\.dot\(v\d+\.to\(tl\.", 30),
    "a sum that goes on in another variable": (r"(?m)^ {8,}v\d+ = -v\d+$|^ {8,}v\d+, v\d+ = ", 30),
    "a sum that starts again": (
        r"(?m)^ +if k\d+ % \d == \d:\n +tl\.store\(o.*\n +(v\d+) = (tl\.zeros|\1 \*)",
        40,
    ),
    "a block that is stored before the tensor": (r"\.store\(\[.*([ks]\d+ - 1\)|// 2|>> 1)", 10),
    "a sum that changes sign": (r"tl\.dot\(v\d+, v\d+, -v", 25),
    "a product under a condition": (r"(?m)^ +if k\d+ != 1:\n +v\d+ = tl\.dot", 25),
    "an atomic in the loop": (r"(?m)^ {8,}tl\.atomic_add\(a\d+, tl\.sum", 15),
    "a stored tile": (r"(?m)^ {8}d\d+\.store\(", 15),
    "an accumulator that is promoted": (r"max_num_imprecise_acc=32", 5),
    "rows that are listed": (r"(?m)^ {8}.*d\d+\.gather\(tl\.load", 30),
    "rows that are stored in any order": (r"[do]\d+\.scatter\(", 5),
    "a tile that is reduced into others": (r"d\d+\.atomic_\w+\(\[0, 0\], v\d+\.to", 5),
    "blocks that are reduced": (r"\.atomic_\w+\(.*, [dx]\d+\.load\(", 10),
    "blocks of many dimensions": (r"\.store\(\[[^,]+, [^,]+, [^,]+, .*load\(", 10),
    "iterations that programs share": (r"in tl\.range\(\d \+ pid, ", 15),
    "gradients of attention": (r"(?m)^ {8}v\d+ = \(v\d+ & \(v\d+ [<>] ", 10),
    "a program that takes tile after tile": (r"for s\d+ in tl\.range\(pid, ", 40),
    "tiles in groups of rows": (r"(?m)^ {8}r\d+ = min\(", 8),
    "a tile in two halves": (r"tl\.split\(tl\.permute\(", 8),
    "a tile in four parts": (
        r"(v\d+), v\d+ = tl\.split\(.*\n +v\d+, v\d+ = tl\.split\(tl\.permute\(tl\.reshape\(\1,",
        4,
    ),
    "a tile that is written over": (r"(?m)^ +d\d+\.store\(\[.*, v\d+ \* 0\)$", 4),
    "a tile that is cut": (r"mask=\(r\d+ < \d+\) & \(r\d+ < ", 15),
    "an operand of halves of bytes": (r"tl\.join\(v", 10),
    "an operand that is converted": (r"(?m)^ {8,}(v\d+) = \1\.to\(", 40),
    "an operand with a scale": (r"(?m)^ {8,}(v\d+) = \1 \* v\d+\[None, :\]", 10),
    "a called function with a product": (r"return tl\.dot\(x, y, acc", 8),
    "a hint to the caches": (r"load\(\[.*eviction_policy=", 30),
    "a descriptor of each tile": (r"(?m)^ {8,}d\d+ = tl\.make_tensor_descriptor\(", 8),
}


#: Of programs that are only right if the copy engine stores, for how many of 300.
COVERED_BY_COPIES = {
    "a tile that is stored and read": (
        r"(?m)^ {8}d\d+\.store\(\[s\d+ \* .*, tl\.load\(x.*\n {8}v\d+ \+= ",
        20,
    ),
    "a tile that an atomic reads": (r"\+= tl\.atomic_", 4),
    "a tile that is read anew": (r"cache_modifier='\.cv'|volatile=True", 4),
    "a tile that is multiplied again": (r"<= s\d+ - 1\)\.to", 10),
}


def test_what_descriptors_store_is_read():
    programs = [generate(seed, partitions=True, copies=True) for seed in range(300)]
    check_kinds(programs, COVERED_BY_COPIES)


def test_all_kinds_of_loops_are_generated():
    programs = [generate(seed, partitions=True) for seed in range(300)]
    check_kinds(programs, COVERED_BY_PARTITIONS)
    assert {p.config.num_warps for p in programs} == {1, 2, 4, 8}


def test_options_that_leave_results_as_they_are():
    """All of them are given, to targets that have them, and a seed always has the same."""
    for machine, known_there in (("cuda:90", options.NVIDIA), ("hip:gfx942", options.AMD)):
        chosen = [options.choose_options(seed, machine) for seed in range(300)]
        assert {o for found in chosen for o in found} == {o for some in known_there for o in some}
        assert 100 < sum(not found for found in chosen) < 200
    program = cli.program_of(7, "hip:gfx942")
    assert program == cli.program_of(7, "hip:gfx942")
    assert program.config.options == options.choose_options(7, "hip:gfx942")
    checked = [options.choose_options(seed, "cuda:90", "assert x") for seed in range(300)]
    assert 150 < sum(("debug", True) in found for found in checked) < 280


CLUSTER = """import tile
import tile.language as tl

@tile.jit
def kernel(x0, o0):
    v0 = tl.load(x0 + tl.arange(0, 64))
    tl.store(o0 + tl.arange(0, 32), tl.histogram(v0, 32))
"""

LARGE = """import tile
import tile.language as tl

@tile.jit
def kernel(x0, o0):
    acc = tl.zeros([128, 128], tl.float32)
    for k in tl.range(0, 4, num_stages=5):
        v0 = tl.load(x0 + k * 16384 + tl.arange(0, 128)[:, None] * 128 + tl.arange(0, 128)[None, :])
        acc = tl.dot(v0, v0, acc)
    tl.store(o0 + tl.arange(0, 128)[:, None] * 128 + tl.arange(0, 128)[None, :], acc)
"""


def test_what_a_target_refuses_is_made_easier():
    small = {"flavour": "small", "low": 0, "high": 31}
    poison = {"flavour": "poison"}
    blocks = (
        Argument("x0", "input", "i32", 64, **small),
        Argument("o0", "output", "i32", 32, **poison),
    )
    program = Program(1, CLUSTER, blocks, config=Config(90, 4, 3, num_ctas=2))
    outcome = runner.check(program)
    assert outcome.proves and "not across blocks of a cluster" in outcome.why
    exact = {"flavour": "exact", "low": -1, "high": 1}
    tiles = (
        Argument("x0", "input", "fp16", 128 * 128 * 4, **exact),
        Argument("o0", "output", "fp32", 128 * 128, **poison),
    )
    program = Program(1, LARGE, tiles, config=Config(86, 4, 3))
    outcome = runner.check(program)
    assert outcome.proves and "shared memory" in outcome.why
    assert not runner.check(program, "compile").proves
    # What is wrong of the program that was made easier is found.
    zeros = dataclasses.replace(tiles[1], known="np.zeros(128 * 128)")
    with pytest.raises(runner.Failure, match="oracle"):
        runner.check(program.replace(arguments=(tiles[0], zeros)))


def test_no_variable_hides_a_parameter():
    """Seed 113900 counted a loop with the name of the parameter that another loop ran to."""
    for seed in (113900, *range(500)):
        module = ast.parse(known(seed).source)
        functions = [f for f in module.body if isinstance(f, ast.FunctionDef)]
        (kernel,) = (f for f in functions if f.name == "kernel")
        parameters = {a.arg for a in kernel.args.args}
        names = (n for n in ast.walk(kernel) if isinstance(n, ast.Name))
        bound = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        called = {f.name for f in functions}
        assert not parameters & bound and not called & (parameters | bound), seed
        assert len(called) == len(functions), seed


def test_parameters_that_share_memory(monkeypatch):
    """Kernels are compiled for disjoint parameters, and launched with others: were it not for the
    variant that launches choose then, results would be wrong."""
    programs = [p for p in map(known, range(400)) if any(a.view for a in p.arguments)]
    assert len(programs) >= 15
    meetings = []
    usual = overlap.may_meet

    def noted(*arguments):
        meetings.append(usual(*arguments))
        return meetings[-1]

    monkeypatch.setattr(overlap, "may_meet", noted)
    chosen = []
    for program in programs:
        meetings.clear()
        runner.check(program)
        if any(meetings):
            chosen.append(program)
    assert len(chosen) >= 5
    monkeypatch.setattr(overlap, "may_meet", lambda *_: False)
    wrong = 0
    for program in chosen:
        try:
            runner.check(program)
        except runner.Failure:
            wrong += 1
    assert wrong >= 3


SOURCE = """import tile
import tile.language as tl

@tile.jit
def kernel(x0, x1, o0, o1):
    v0 = tl.load(x0 + tl.arange(0, 64))
    v1 = tl.load(x1 + tl.arange(0, 64))
    v2 = v0 * 3
    if tl.max(v2, 0) > 5:
        v2 = v2 + v1
    v3 = tl.sum(v1, 0)
    tl.store(o0 + tl.arange(0, 64), v2)
    tl.store(o1, v3)
    tl.store(o1 + 7, v3)
"""


def out_of_bounds() -> Program:
    arguments = (
        Argument("x0", "input", "i32", 64),
        Argument("x1", "input", "i32", 64),
        Argument("o0", "output", "i32", 64, flavour="poison"),
        Argument("o1", "output", "i32", 1, flavour="poison"),
    )
    return Program(1, SOURCE, arguments, config=Config(90, 8, 3))


def test_failures_are_reduced():
    with pytest.raises(runner.Failure) as caught:
        runner.check(out_of_bounds(), "compile")
    assert caught.value.kind == "finding"
    small = reduce(out_of_bounds(), "compile", caught.value.signature)
    assert small.config.num_warps == 1 and small.config.num_stages == 1
    lines = [line for line in small.source.splitlines() if line.startswith("    ")]
    assert len(lines) <= 3 and "o1 + 7" in lines[-1]
    assert [a.name for a in small.arguments] == ["x1", "o1"]


def test_differences_are_found():
    program = out_of_bounds()
    a = {"o0": np.arange(64, dtype=np.int32), "o1": np.zeros(1, np.int32)}
    b = {"o0": a["o0"].copy(), "o1": a["o1"].copy()}
    runner.compare(program, a, b, "test")
    b["o0"][5] += 1
    with pytest.raises(runner.Failure, match=r"o0 differs in 1 of 64 elements \(test\): \[5\] 5 "):
        runner.compare(program, a, b, "test")


def test_elements_of_inputs_are_known_without_the_interpreter():
    arguments = (
        Argument("x0", "input", "i32", 8),
        Argument("o0", "output", "i32", 4, known="take(x0, [7, 1, -1, 1])"),
    )
    program = Program(3, SOURCE, arguments)
    x = program.inputs()["x0"]
    right = np.array([x[7], x[1], 0, x[1]], np.int32)
    runner.check_known(program, {"o0": right})
    for i in range(4):
        wrong = right.copy()
        wrong[i] += 1
        with pytest.raises(runner.Failure, match=rf"oracle: o0 differs in 1 elements: \[{i}\]"):
            runner.check_known(program, {"o0": wrong})


def test_floats_differ_beyond_their_tolerance_only():
    nan = float("nan")
    a = np.array([0.0, 1.0, nan, 1.0, nan, np.inf], np.float32)
    b = np.array([-0.0, 1.0 + 1e-5, nan, 1.1, 1.0, np.inf], np.float32)
    assert list(runner.differences(a, b, "fp32", 0.0)) == [1, 3, 4]
    assert list(runner.differences(a, b, "fp32", 1e-4)) == [3, 4]


def test_programs_that_are_not_done_in_time_did_not_fail(monkeypatch, capsys):
    # A process takes longer than this to start.
    failures, _ = cli.run_chunk(7, 1, "compile", timeout=-2.9)
    assert [(f["seed"], f["kind"]) for f in failures] == [(7, "timeout")]
    wrong = {"seed": 8, "kind": "mismatch", "message": "o0 differs", "signature": "mismatch"}

    def status(first: list[dict], alone: list[dict]) -> int:
        monkeypatch.setattr(cli, "spread", lambda options, clock: ([*first], []))
        monkeypatch.setattr(cli, "run_chunk", lambda *given, **named: ([*alone], []))
        return cli.main(["--seed", "7", "--count", "2"])

    assert (
        status(failures, []) == 0 and "2 passed, 0 failed, 0 timed out" in capsys.readouterr().out
    )
    assert status(failures, failures) == cli.TIMED_OUT
    assert "1 passed, 0 failed, 1 timed out" in capsys.readouterr().out
    assert status([*failures, wrong], failures) == cli.FAILED
    assert "0 passed, 1 failed, 1 timed out" in capsys.readouterr().out
    assert status(failures, [wrong]) == cli.FAILED


def test_programs_that_the_time_is_up_for_are_left(capsys):
    """They are neither passed nor failed, and the last line says where to go on."""
    clock = cli.Clock(0)
    assert cli.run_chunk(7, 5, "compile", clock=clock) == ([], [])
    assert clock.left == [range(7, 12)]
    clock = cli.Clock(3)
    assert cli.run_chunk(7, 1000, "compile", clock=clock) == ([], [])
    (left,) = clock.left
    assert 7 <= left.start < 1007 and left.stop == 1007
    assert cli.main(["--seed", "7", "--count", "25", "--jobs", "2", "--seconds", "0"]) == 0
    out = capsys.readouterr().out
    assert "go on with --seed 7" in out and "0 passed, 0 failed, 0 timed out" in out
