"""Code objects: what our linker makes of an object, beside what lld makes of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tile
import tile.language as tl
from tile import _C, knobs
from tile.backends import find_backend
from tile.compiler import ASTSource

LLVM = Path("/usr/lib/llvm-22/bin")
needs_llvm = pytest.mark.skipif(
    not all(shutil.which(n, path=LLVM) for n in ("ld.lld", "llvm-readelf", "llvm-objdump")),
    reason="needs ld.lld, llvm-readelf and llvm-objdump",
)
TARGETS = [tile.GPUTarget("hip", "gfx942", 64), tile.GPUTarget("hip", "gfx1100", 32)]


@tile.jit(noinline=True)
def scaled(x, factor):
    return x * factor


@tile.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + tl.program_id(0), scaled(tl.sum(x), 3.0) + tl.num_programs(0))


def objects(target: tile.GPUTarget, tmp_path: Path, **options: object) -> tuple[Path, Path]:
    """The code object of a kernel, linked by us and by lld."""
    source = ASTSource(total, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"BLOCK": 512})
    kernel = tile.compile(source, target=target, options=options)
    backend = find_backend(target)
    code = backend.code_options(backend.parse_options({}))
    relocatable = _C.amd.assemble(kernel.asm["amdgcn"], _C.ir.Context(), code)
    ours, theirs, source_file = (tmp_path / name for name in ("ours", "theirs", "object"))
    source_file.write_bytes(relocatable)
    ours.write_bytes(kernel.asm["hsaco"])
    subprocess.run([LLVM / "ld.lld", "-shared", source_file, "-o", theirs], check=True)
    return ours, theirs


def readelf(path: Path, *arguments: str) -> str:
    command = [LLVM / "llvm-readelf", *arguments, path]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.stdout


def symbols(path: Path, table: str) -> dict[str, tuple[int, str]]:
    """Addresses, and the rest of what a symbol table says, by name."""
    found = {}
    for line in readelf(path, table, "--wide").splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[0] != "Num:" and fields[7] != "_DYNAMIC":
            size, *kinds, _ = fields[2:7]
            found[fields[7]] = (int(fields[1], 16), f"{size} {' '.join(kinds)}")
    return found


def section(path: Path, name: str) -> tuple[int, bytes]:
    """The address of a section and what is in it."""
    row = re.search(
        rf"\] {re.escape(name)}\s+\w+\s+(\w+) (\w+) (\w+)", readelf(path, "-S", "--wide")
    )
    assert row, f"no section {name}"
    address, offset, size = (int(field, 16) for field in row.groups())
    return address, path.read_bytes()[offset : offset + size]


@needs_llvm
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_loaders_find_what_they_find_in_what_lld_links(target, tmp_path):
    ours, theirs = objects(target, tmp_path)
    for table in ("--dyn-syms", "--syms"):
        mine, other = symbols(ours, table), symbols(theirs, table)
        assert {n: rest for n, (_, rest) in mine.items()} == {
            n: rest for n, (_, rest) in other.items()
        }
    assert set(symbols(ours, "--dyn-syms")) == {"total", "total.kd"}
    assert readelf(ours, "--notes") == readelf(theirs, "--notes")
    header = readelf(ours, "-h")
    for line in ("Flags", "OS/ABI", "ABI Version", "Type", "Machine"):
        assert (
            re.search(rf"{line}:.*", header)[0]
            == re.search(rf"{line}:.*", readelf(theirs, "-h"))[0]
        )
    # The hash table leads to every dynamic symbol.
    assert "Histogram for bucket list" in readelf(ours, "--elf-hash-histogram")


@needs_llvm
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_references_are_as_far_as_where_lld_puts_things(target, tmp_path):
    ours, theirs = objects(target, tmp_path)
    for path in (ours, theirs):
        # The descriptor says how far it is from there to the code.
        names = symbols(path, "--dyn-syms")
        address, content = section(path, ".rodata")
        at = names["total.kd"][0]
        entry = int.from_bytes(
            content[at - address + 16 : at - address + 24], "little", signed=True
        )
        assert at + entry == names["total"][0]
    # Code that calls code has no place in it that depends on where it is.
    assert section(ours, ".text")[1] == section(theirs, ".text")[1]
    for name in (".debug_line", ".debug_info"):
        assert len(section(ours, name)[1]) == len(section(theirs, name)[1])
    mine = readelf(ours, "-l", "--wide")
    for kind in ("R   ", "R E ", "RW  "):
        assert re.search(rf"LOAD\s+0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x\w+ {kind}", mine)


@needs_llvm
def test_lines_of_the_kernel_are_in_the_code_object(tmp_path):
    ours, _ = objects(TARGETS[0], tmp_path)
    command = [LLVM / "llvm-objdump", "-d", "--line-numbers", ours]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert Path(__file__).name in text and "s_endpgm" in text


@tile.jit(noinline=True)
def turned_sum(x, N: tl.constexpr):
    turned = tl.reshape(tl.trans(tl.reshape(x, [N // 16, 16])), [N])
    return tl.sum(turned * tl.arange(0, N))


@tile.jit
def turned_sums(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, turned_sum(x, N) + turned_sum(x * 2, N))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.arch)
def test_functions_that_are_called_find_shared_memory(target, monkeypatch):
    """LLVM's table of where kernels have it would be data that a loader has to fill."""
    monkeypatch.setenv("TILE_SIM_TARGET", f"hip:{target.arch}")
    x = np.random.default_rng(3).integers(-9, 10, 512).astype(np.int32)
    out = np.full(1, -1, np.int32)
    kernel = turned_sums[(1,)](x, out, 512)
    assert out[0] == 3 * x.reshape(32, 16).T.reshape(-1) @ np.arange(512)
    assert "swappc" in kernel.asm["amdgcn"]
    assert kernel.asm["hsaco"][:4] == b"\x7fELF"


def test_what_is_no_object_is_refused():
    with pytest.raises(_C.ir.MLIRError, match="cannot link the code object"):
        _C.amd.link(b"no object at all", _C.ir.Context())


def mnemonics(text: str) -> list[str]:
    """Of the instructions of an assembly or a disassembly, without the padding behind them."""
    found = re.findall(r"^\s+([a-z]\w+)\b(?!:)", text, re.M)
    return [name for name in found if name not in ("s_code_end", "s_nop")]


@needs_llvm
@pytest.mark.parametrize("target", _C.targets.known("hip"), ids=str)
def test_every_code_object_is_disassembled_to_what_was_assembled(target, tmp_path):
    on = tile.GPUTarget("hip", target.processor, target.wave_size)
    source = ASTSource(total, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"BLOCK": 512})
    kernel = tile.compile(source, target=on)
    path = tmp_path / "kernel.hsaco"
    path.write_bytes(kernel.asm["hsaco"])
    command = [LLVM / "llvm-objdump", "-d", "--no-show-raw-insn", path]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    code = mnemonics(re.sub(r";.*|//.*", "", done.stdout))
    assert len(code) > 50
    assert code == mnemonics(re.sub(r";.*", "", kernel.asm["amdgcn"]))


@tile.jit
def faulty(out_ptr):
    x = tl.inline_asm_elementwise("v_bogus $0", "=v", [], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr, x)


def test_mistakes_in_inline_assembly_have_the_place_of_the_call(monkeypatch):
    """The assembler's, and the simulator's."""
    monkeypatch.setattr(knobs.runtime, "sim_target", "hip:gfx942")
    source = ASTSource(faulty, {"out_ptr": "*i32"})
    for call in (
        lambda: tile.compile(source, target=TARGETS[0]),
        lambda: faulty[(1,)](np.zeros(1, np.int32)),
    ):
        with pytest.raises(tile.CompilationError, match="<amdgcn>:") as caught:
            call()
        assert "x = tl.inline_asm_elementwise(" in str(caught.value)
