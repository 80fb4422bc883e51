"""ptxas assembles what is compiled for each GPU of the Blackwell generation: the programs of the
corpus, the kernels that are measured, and those that were recorded of public libraries."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest
from corpus.programs import PROGRAMS
from measured import benchmark, quality
from reference import sim_only

import tile
from tile.backends import backends
from tile.backends.compiler import GPUTarget
from tile.compiler import ASTSource
from tile.errors import CompilerToolError, OutOfResources

TARGETS = [100, 103, 110, 120]

tools = sys.modules[backends()["nvidia"].__module__].tools
pytestmark = pytest.mark.skipif(tools.ptxas_path() is None, reason="needs ptxas")

cases, compiled, recorded = map(quality, ("cases", "compiled", "kernels"))
#: By name: some are in several tables.
MEASURED = {
    case.name: case for case in (*cases.cases(), *cases.hopper_cases(), *cases.hopper_kernels())
}
#: One of each kind, for every run of the tests.
SAMPLE = {case.example: case.name for case in reversed(MEASURED.values())}.values()


#: Rows, type of the elements, columns, type of the result.
DOT = re.compile(
    r"tt\.dot .*: tensor<(\d+)x\d+x(\w+)> \* tensor<\d+x(\d+)x\w+> -> tensor<\d+x\d+x(\w+)>"
)
#: For `tcgen05.mma`.
LEAST_ROWS, LEAST_COLUMNS, LEAST_WARPS = 64, 16, 4


def fills_a_tensor_core(kernel: tile.CompiledKernel, target: int) -> bool:
    """Whether each dot of the kernel, which has one, is what docs/howto/fast-blackwell.md asks of
    dots in tensor memory."""
    dots = DOT.findall(kernel.asm["ttir"])
    elements = {"f16", "bf16", "f32", "f8E4M3FN", "f8E5M2"} | ({"i8"} if target != 103 else set())
    return (
        bool(dots)
        and all(
            int(rows) >= LEAST_ROWS
            and int(columns) >= LEAST_COLUMNS
            and element in elements
            and result in ("f32", "i32")
            for rows, element, columns, result in dots
        )
        and kernel.metadata.num_warps >= LEAST_WARPS
        # Its blocks wait for each other, and could wait for tensor memory, too.
        and not kernel.metadata.launch_cooperative_grid
    )


def assert_in_machine_code(kernel: tile.CompiledKernel) -> None:
    assert "tcgen05.mma" in kernel.asm["ptx"]
    try:
        assert re.search(r"UTC\w*MMA", kernel.asm["sass"])
    except CompilerToolError:
        pass  # There is no nvdisasm.


def assemble(source: ASTSource, options: dict, target: int) -> None:
    """Dots of the targets with tensor memory have their sums there, and then not."""
    for tensor_memory in (False, True) if target < 120 else (False,):
        kernel = tile.compile(
            source,
            target=GPUTarget("cuda", target, 32),
            options={**options, "tensor_memory": tensor_memory},
        )
        assert kernel.asm["cubin"][:4] == b"\x7fELF"
        assert f".target sm_{target}a" in kernel.asm["ptx"]
        assert tensor_memory or "tcgen05" not in kernel.asm["ptx"]
        if tensor_memory and fills_a_tensor_core(kernel, target):
            assert_in_machine_code(kernel)


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_corpus(name, target):
    fn, types, constants = PROGRAMS[name]
    names = [n for n in fn.arg_names if n not in constants]
    typed = dict(zip(names, types.split(), strict=True))
    signature = {n: t.removesuffix(":16") for n, t in typed.items()}
    signature |= dict.fromkeys(constants, "constexpr")
    attributes = {
        (fn.arg_names.index(n),): [["tt.divisibility", 16]]
        for n, t in typed.items()
        if t.endswith(":16")
    }
    assemble(ASTSource(fn, signature, constants, attributes), {}, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in SAMPLE else [pytest.mark.slow]) for n in MEASURED],
)
def test_measured_kernels(name, target):
    case = MEASURED[name]
    source = compiled.source_of(case, GPUTarget("cuda", target, 32))
    try:
        assemble(source, case.options, target)
    except OutOfResources as error:
        # Blocks are tuned for sm_90, which has more than sm_120.
        assert target == 120 and "shared memory" in str(error)


RECORDED = {path.stem: path for path in sorted(recorded.RECORDED.glob("*.ttir"))}


def test_recorded_kernels_are_found():
    assert len(RECORDED) > 100


# bench/tables has them for sm_100 and sm_120.
@pytest.mark.slow
@pytest.mark.parametrize("target", [103, 110])
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_kernels(name, target):
    kernel = recorded.of_file(RECORDED[name])
    gpu = GPUTarget("cuda", target, 32)
    compiled = tile.compile(kernel.source(gpu), target=gpu, options=dict(kernel.options))
    assert compiled.asm["cubin"][:4] == b"\x7fELF"
    assert f".target sm_{target}a" in compiled.asm["ptx"]


TYPED = "*fp16:16"
#: Kernels of benchmarks that are in no table, at blocks that are measured: a module of `bench`, a
#: kernel, the types of its arguments, its constants, its warps.
BENCHMARKS = [
    *(
        ("shape_kernels", "softmax", f"{TYPED} {TYPED} i32:16", (columns, padded), 8)
        for columns, padded in [(5120, 5120), (5120, 8192)]
    ),
    *(
        ("shape_kernels", "layernorm", f"{' '.join([TYPED] * 4)} i32:16", (columns, padded), 8)
        for columns, padded in [(5008, 5008), (5120, 8192)]
    ),
    *(
        ("shape_kernels", "matmul", f"{' '.join([TYPED] * 3)} i32:16 i32:16", blocks, warps)
        for blocks, warps in [
            ((128, 96, 64, 96), 4),
            ((128, 96, 64, 128), 4),
            ((128, 192, 64, 192), 8),
        ]
    ),
    *(
        ("shape_kernels", "attention", f"{' '.join([TYPED] * 4)} i32:16 fp32", blocks, 4)
        for blocks in [(64, 64, 96, 96), (128, 64, 96, 128)]
    ),
    *(
        ("reduction_kernels", kernel, types, (4096,), 8)
        for kernel, types in [
            ("var_mean", f"{TYPED} *fp32:16 *fp32:16 i32:16"),
            ("var_mean_in_steps", f"{TYPED} *fp32:16 *fp32:16 i32:16"),
            ("layer_norm", f"{' '.join([TYPED] * 5)} i32:16 fp32"),
            ("argmax", f"{TYPED} *i64:16 i32:16"),
            ("cross_entropy", f"{TYPED} *i64:16 *fp32:16 i32:16"),
            ("kl_div", f"{TYPED} {TYPED} *fp32:16 i32:16"),
        ]
    ),
    (
        "reduction_kernels",
        "column_moments",
        f"{TYPED} *fp32:16 *fp32:16 i32:16 i32:16",
        (64, 64),
        4,
    ),
    ("ragged_kernels", "add", f"{TYPED} {TYPED} {TYPED} i32", (1024,), 4),
    ("ragged_kernels", "double", f"{TYPED} {TYPED} i32 i32 i32", (64, 64), 4),
    ("ragged_kernels", "softmax", f"{TYPED} {TYPED} i32 i32", (4096,), 8),
    *(
        (
            "scaled_kernels",
            "scaled_matmul",
            f"{a} *u8:16 {b} *u8:16 *fp32:16 i32:16 i32:16 i32:16",
            (*kinds, False, *blocks),
            warps,
        )
        for a, b, kinds in [
            ("*fp8e4nv:16", "*fp8e4nv:16", ("e4m3", "e4m3")),
            ("*fp8e4nv:16", "*bf16:16", ("e4m3", "bf16")),
            ("*u8:16", "*u8:16", ("e2m1", "e2m1")),
        ]
        for *blocks, warps in [(128, 128, 128, 8), (64, 64, 64, 4)]
    ),
    *(
        ("sim_kernels", "product", f"{t} {t} *fp32:16 i32:16 i32:16", (64, 64, 32, "tf32"), 4)
        for t in (TYPED, "*fp32:16")
    ),
    ("instrumented_kernels", "product", f"{' '.join([TYPED] * 3)} i32:16 i32:16", (64, 32), 4),
    ("instrumented_kernels", "records", "*i32:16 i32", (128,), 4),
]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("module", "kernel", "types", "constants", "warps"), BENCHMARKS)
def test_kernels_of_benchmarks(module, kernel, types, constants, warps, target):
    fn = getattr(benchmark(module), kernel)
    typed = types.split()
    signature = dict.fromkeys(fn.arg_names, "constexpr")
    signature |= zip(fn.arg_names, (t.removesuffix(":16") for t in typed), strict=False)
    named = dict(zip(fn.arg_names[len(typed) :], constants, strict=True))
    attributes = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(typed) if ":16" in t}
    try:
        assemble(ASTSource(fn, signature, named, attributes), {"num_warps": warps}, target)
    except OutOfResources as error:
        assert target == 120 and "shared memory" in str(error)


#: Programs that launch their kernels on whatever GPU there is; demo.py runs the others.
EXAMPLES = [
    path
    for path in sorted((Path(__file__).parents[4] / "examples").glob("*.py"))
    if path.stem not in ("demo", "device", "multi_gpu") and "run_examples(" in path.read_text()
]


def test_examples_are_found():
    assert len(EXAMPLES) > 10


@sim_only
@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(example, target, monkeypatch, capsys):
    """The simulator runs an example, and ptxas assembles all that was compiled for it."""
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", f"cuda:{target}")
    monkeypatch.setattr(sys, "path", [str(example.parent), *sys.path])
    monkeypatch.setattr(sys, "argv", [str(example)])
    compile, kernels = tile.compiler.compile, []

    def keep(*args, **options):
        kernels.append(compile(*args, **options))
        return kernels[-1]

    monkeypatch.setattr(tile.compiler, "compile", keep)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(example), run_name="__main__")
    assert ended.value.code == 0, capsys.readouterr().out
    assert kernels
    for kernel in kernels:
        assert kernel.asm["cubin"][:4] == b"\x7fELF"
        if fills_a_tensor_core(kernel, target) and target < 120:
            assert_in_machine_code(kernel)


@pytest.mark.parametrize("target", [100, 103, 110])
def test_the_tensor_core_is_in_the_machine_code(target):
    case = MEASURED[next(name for name in SAMPLE if "matmul" in name or "gemm" in name)]
    source = compiled.source_of(case, GPUTarget("cuda", target, 32))
    kernel = tile.compile(
        source,
        target=GPUTarget("cuda", target, 32),
        options={**case.options, "tensor_memory": True},
    )
    assert fills_a_tensor_core(kernel, target)
    assert_in_machine_code(kernel)
