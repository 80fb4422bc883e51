"""ptxas assembles what is compiled for each GPU of the Blackwell generation: the programs of the
corpus, and the kernels that are measured."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest
from corpus.programs import PROGRAMS
from measured import quality
from reference import sim_only

import tile
from tile.backends import backends
from tile.backends.compiler import GPUTarget
from tile.compiler import ASTSource
from tile.errors import CompilerToolError, OutOfResources

TARGETS = [100, 103, 110, 120]

tools = sys.modules[backends()["nvidia"].__module__].tools
pytestmark = pytest.mark.skipif(tools.ptxas_path() is None, reason="needs ptxas")

cases, compiled = map(quality, ("cases", "compiled"))
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


#: Programs that launch their kernels on whatever GPU there is; demo.py runs the others.
EXAMPLES = [
    path
    for path in sorted((Path(__file__).parents[4] / "examples").glob("*.py"))
    if path.stem not in ("demo", "multi_gpu") and "run_examples(" in path.read_text()
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
