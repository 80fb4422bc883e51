"""Kernels as C, in programs without Python."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_gpu import HERE, build
from reference import sim_only

import tile
from tile.aot import compile_kernel, link, parse_signature
from tile.cli import main

pytestmark = sim_only

KERNELS = """
import tile
import tile.language as tl

@tile.jit
def axpy(x_ptr, out_ptr, a, n, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets * stride, a * tl.load(x_ptr + offsets, mask=mask), mask=mask)

@tile.autotune(configs=[tile.Config({"BLOCK": 64})], key=["n"])
@tile.jit
def tuned(p, n, BLOCK: tl.constexpr):
    tl.store(p + tl.arange(0, BLOCK), n)

@tile.jit
def running(x_ptr, count: tl.constexpr, y_ptr, n):
    lanes = tl.arange(0, count)
    for i in tl.range(0, n, num_stages=3):
        tl.store(y_ptr + (i + 1) * count + lanes, tl.load(x_ptr + i * count + lanes) + 1)

@tile.jit
def chained(q_ptr, k_ptr, out_ptr, steps):
    i = tl.arange(0, 128)
    at = i[:, None] * 128 + i[None, :]
    q = tl.load(q_ptr + at)
    acc = tl.zeros((128, 128), tl.float32)
    for t in range(0, steps):
        k = tl.load(k_ptr + t * 16384 + at)
        acc = tl.dot((tl.dot(q, k.T) > 0).to(tl.float16), k, acc)
    tl.store(out_ptr + at, acc)

@tile.jit
def described(d, out_ptr):
    tl.store(out_ptr + tl.arange(0, 16), tl.sum(d.load([0, 0]).to(tl.float32), 1))
"""


@pytest.fixture
def kernels(tmp_path) -> Path:
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS)
    return path


def test_signatures():
    names = ["a", "b", "c", "d", "e", "f"]
    text = '*fp32:16, i32, i64:1, 1024, "x, y", tensordesc<fp16[16, 64]>'
    arguments = parse_signature(text, names)
    assert [(a.type, a.hint, a.value) for a in arguments] == [
        ("*fp32", 16, None), ("i32", None, None), ("i64", 1, None), ("constexpr", None, 1024),
        ("constexpr", None, "x, y"), ("tensordesc<fp16[16, 64]>", None, None),
    ]  # fmt: skip
    assert [t for t, _ in arguments[5].c_parameters()] == [
        "CUdeviceptr", "int32_t", "int32_t", "int64_t", "int64_t", "bool",
    ]  # fmt: skip
    for wrong, why in (
        ("*fp32, i32", "the signature has 2 entries, but the kernel has 1"),
        ("fp31", "`a` is `fp31`, which is neither a type"),
        ("i32:8", "the hint of `a` is 16 or 1, not 8"),
        ("fp32:1", "only an integer is the number 1"),
    ):
        with pytest.raises(tile.TileError, match=re.escape(why)):
            parse_signature(wrong, ["a"])


def test_files_and_names(kernels, tmp_path):
    header, source = compile_kernel(
        kernels, "axpy", "*fp32:16, *fp32, fp32, i32, i32:1, 64", "(n + 63) / 64",
        tmp_path / "out", targets=["cuda:90", "cuda:80"],
    )  # fmt: skip
    found = re.fullmatch(r"out\.([0-9a-f]{8}_0d1234c)\.h", header.name)
    assert found and source.name == f"out.{found[1]}.c"
    function = f"axpy_{found[1]}"
    text = header.read_text()
    for line in (
        f"CUresult load_{function}(void);",
        f"void unload_{function}(void);",
        f"CUresult {function}(CUstream stream, CUdeviceptr x_ptr, CUdeviceptr out_ptr, float a, "
        "int32_t n, int32_t stride);",
    ):
        assert line in text
    images = re.findall(r"// (\w+) for (\w+)", source.read_text())
    assert images == [("cubin", "sm_90"), ("cubin", "sm_80"), ("ptx", "sm_90"), ("ptx", "sm_80")]
    again = compile_kernel(
        kernels, "axpy", "*fp32:16, *fp32, fp32, i32, i32:1, 64", "(n + 63) / 64",
        tmp_path / "out", targets=["cuda:90", "cuda:80"],
    )  # fmt: skip
    assert again == [header, source] and source.read_text().count("image3") == 2


def test_what_is_refused(kernels, tmp_path):
    def refused(kernel, signature, grid="1", targets=("cuda:90",), path=kernels):
        with pytest.raises(tile.TileError) as raised:
            compile_kernel(path, kernel, signature, grid, tmp_path / "out", targets=targets)
        return str(raised.value)

    assert "has no kernel `nothing`; it has " in refused("nothing", "i32")
    assert refused("axpi", "i32").endswith("; did you mean `axpy`?")
    assert "is no Python file" in refused("axpy", "i32", path=tmp_path / "x.py")
    assert "a target is written as cuda:90" in refused("tuned", "*i32, i32, 64", targets=("90",))
    assert "1 to 3 expressions, not 4" in refused("tuned", "*i32, i32, 64", "1,1,1,1")


MAIN = """
#include "kernels.h"
#include <stdio.h>
#include <string.h>

typedef void (*Callback)(const CUlaunchConfig *, void *, void **);
void fake_set(int, Callback, int);
void fake_switch_device(int);
extern int fake_launches, fake_loads;

static void seen(const CUlaunchConfig *c, void *f, void **p) {
  float a;
  memcpy(&a, p[2], 4);
  printf("grid %u block %u stream %d x %llx out %llx a %.2f n %d\\n", c->gridDimX, c->blockDimX,
         (int)(size_t)c->hStream, *(CUdeviceptr *)p[0], *(CUdeviceptr *)p[1], a, *(int *)p[3]);
}

int main(void) {
  CUstream stream = (CUstream)7;
  if (axpy_default(stream, 0x1000, 0x2000, 1.5f, 100, 1) == CUDA_SUCCESS)
    return 1; // There is no context yet.
  fake_set(1, seen, 0);
  fake_switch_device(0);
  printf("algorithms %d\\n", axpy_get_num_algos());
  if (load_axpy() != CUDA_SUCCESS)
    return 2;
  printf("loads %d\\n", fake_loads);
  axpy_default(stream, 0x1000, 0x2000, 1.5f, 100, 1);
  axpy_default(stream, 0x1004, 0x2000, 2.5f, 100, 1);
  if (axpy_default(stream, 0x1004, 0x2000, 2.5f, 100, 2) != CUDA_ERROR_INVALID_VALUE)
    return 3;
  axpy(stream, 0x1000, 0x2000, 3.5f, 100, 1, 1);
  axpy(stream, 0x1000, 0x2000, 4.5f, 0, 1, 1);
  if (axpy(stream, 0x1000, 0x2000, 3.5f, 100, 1, 2) != CUDA_ERROR_INVALID_VALUE)
    return 4;
  unload_axpy();
  printf("launches %d\\n", fake_launches);
  return 0;
}
"""


def test_a_program_in_c(kernels, tmp_path, tmp_path_factory):
    made = build(tmp_path_factory.mktemp("fake-gpu"))
    if made is None:
        pytest.skip("no C compiler")
    for signature, grid in (
        ("*fp32, *fp32, fp32, i32, i32:1, 64", "(n + 63) / 64"),
        ("*fp32:16, *fp32:16, fp32, i32, i32:1, 64", "(n + 63) / 64"),
        ("*fp32:16, *fp32:16, fp32, i32, i32:1, 32", "(n + BLOCK - 1) / BLOCK"),
    ):
        compile_kernel(kernels, "axpy", signature, grid, tmp_path / "out", targets=["cuda:90"])
    headers = sorted(tmp_path.glob("out.*.h"))
    check_cpp(headers, tmp_path_factory.mktemp("cpp"))
    # The order of the files decides which algorithm is the default.
    headers.sort(key=lambda h: '"BLOCK": "32"' in h.read_text())
    link(headers, tmp_path / "kernels")
    (tmp_path / "main.c").write_text(MAIN)
    for include in (HERE, Path("/usr/local/cuda/include")):
        if not (include / "cuda.h").exists():
            continue
        run_c_program(tmp_path, include, made, [
            "algorithms 2", "loads 3",
            "grid 2 block 128 stream 7 x 1000 out 2000 a 1.50 n 100",
            "grid 2 block 128 stream 7 x 1004 out 2000 a 2.50 n 100",
            "grid 4 block 128 stream 7 x 1000 out 2000 a 3.50 n 100",
            "launches 3",
        ])  # fmt: skip


def check_cpp(headers: list[Path], folder: Path) -> None:
    """The headers are C++ too: its programs link with the functions."""
    if shutil.which("c++") is None:
        return
    load = "load_axpy_" + headers[0].stem.removeprefix("out.")
    includes = "".join(f'#include "{header}"\n' for header in headers)
    source = folder / "main.cpp"
    source.write_text(f"{includes}int main() {{ return {load}(); }}\n")
    command = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{HERE}", "-c", str(source)]
    subprocess.run([*command, "-o", str(folder / "main.o")], check=True)
    symbols = subprocess.run(["nm", str(folder / "main.o")], capture_output=True, text=True).stdout
    assert f"U {load}" in symbols, "the functions have C's names"


def run_c_program(folder: Path, include: Path, made: tuple[Path, Path], expected: list[str]):
    """Builds the C files of a folder with a fake driver; expects what the program prints."""
    program = folder / "program"
    subprocess.run(
        ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", f"-I{include}",
         *map(str, folder.glob("*.c")), str(made[0]), f"-Wl,-rpath,{made[0].parent}",
         "-o", str(program)], check=True,
    )  # fmt: skip
    done = subprocess.run([str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.returncode
    assert done.stdout.split("\n")[:-1] == expected


#: Words of C and C++, macros, and what the functions need beside the kernel's parameters.
NAMES = (
    "x y z code config arguments modules functions images fits load stream stream_ algo_id int new "
    "tile_launch tile_arguments linux cluster memset overlapping this default d_shape0 n"
).split()


def test_parameters_of_every_name(tmp_path, tmp_path_factory):
    made = build(tmp_path_factory.mktemp("fake-gpu"))
    if made is None:
        pytest.skip("no C compiler")
    lines = [f"@tile.jit\ndef named({', '.join(NAMES)}, d, out):"]
    lines += [f"    tl.store(out + {i}, {name})" for i, name in enumerate(NAMES)]
    lines += ["    tl.store(out + tl.arange(0, 16), tl.sum(d.load([0, 0]), 1).to(tl.int32))"]
    path = tmp_path / "names.py"
    path.write_text("import tile\nimport tile.language as tl\n\n" + "\n".join(lines) + "\n")
    signature = ", ".join(["i32"] * len(NAMES)) + ", tensordesc<fp16[16, 64]>, *i32"
    compile_kernel(
        path,
        "named",
        signature,
        "stream + ((int[]){x, y})[x < 1], (int)y",
        tmp_path / "out",
        targets=["cuda:90"],
    )
    (header,) = link(tmp_path.glob("out.*.h"), tmp_path / "named")[:1]
    numbers = ", ".join(str(i + 1) for i in range(len(NAMES)))
    (tmp_path / "main.c").write_text(f"""
#include "{header.name}"
#include <stdio.h>
typedef void (*Callback)(const CUlaunchConfig *, void *, void **);
void fake_set(int, Callback, int);
void fake_switch_device(int);

static void seen(const CUlaunchConfig *c, void *f, void **p) {{
  printf("%u %u %u", c->gridDimX, c->gridDimY, c->gridDimZ);
  for (int i = 0; i < {len(NAMES)}; ++i)
    printf(" %d", *(int *)p[i]);
  printf("\\n");
}}

int main(void) {{
  fake_set(1, seen, 0);
  fake_switch_device(0);
  return named_default(0, {numbers}, 0x1000, 16, 64, 64, 1, 0, 0x2000);
}}
""")
    stream = NAMES.index("stream") + 1
    run_c_program(tmp_path, HERE, made, [f"{stream + 1} 2 1 " + numbers.replace(",", "")])
    if shutil.which("c++"):
        command = ["c++", "-std=c++20", "-Wall", "-Werror", f"-I{HERE}", "-fsyntax-only"]
        subprocess.run([*command, "-x", "c++", str(header)], check=True)


@pytest.mark.nvidia("C that calls its driver")
def test_functions_of_every_name(kernels, tmp_path):
    compile_kernel(
        kernels, "tuned", "*i32, i32, 64", "1", tmp_path / "a", targets=["cuda:90"],
        out_name="default",
    )  # fmt: skip
    with pytest.raises(tile.TileError, match="`default` is no name of a function in C"):
        link(tmp_path.glob("a.*.h"), tmp_path / "linked")
    with pytest.raises(tile.TileError, match="'a-b' is no name of a function in C"):
        compile_kernel(kernels, "tuned", "*i32, i32, 64", "1", tmp_path / "a", out_name="a-b")


OVERLAPPING = """
#include "running.h"
#include <stdio.h>

typedef void (*Callback)(const CUlaunchConfig *, void *, void **);
void fake_set(int, Callback, int);
void fake_switch_device(int);
extern int fake_loads;
static void *last;

static void seen(const CUlaunchConfig *c, void *f, void **p) { last = f; }

int main(void) {
  static const CUdeviceptr pairs[][2] = {{0x1000, 0x2000}, {0x1000, 0x1800}, {0x1000, 0x1000},
                                         {0x100000, 0x200000}, {0x1000, 0}, {0x2000, 0x1ff0}};
  fake_set(1, seen, 0);
  fake_switch_device(0);
  if (running_default(0, 0x1000, 0x3000, 5) != CUDA_SUCCESS)
    return 1;
  void *usual = last;
  for (int i = 0; i < (int)(sizeof(pairs) / sizeof(*pairs)); ++i) {
    if (running_default(0, pairs[i][0], pairs[i][1], 5) != CUDA_SUCCESS)
      return 2;
    printf("%s ", last == usual ? "disjoint" : "overlapping");
  }
  printf("%d\\n", fake_loads);
  unload_running();
  return 0;
}
"""


def test_arguments_that_overlap(kernels, tmp_path, tmp_path_factory):
    """A kernel that takes its arguments to be disjoint comes with one that does not."""
    header, source = compile_kernel(
        kernels, "running", "*i32:16, 128, *i32:16, i32", "1", tmp_path / "out",
        targets=["cuda:90", "cuda:80"],
    )  # fmt: skip
    assert re.findall(r"// (\w+ for \w+)(, where arguments overlap)?", source.read_text()) == [
        (f"{kind} for {arch}", overlap)
        for kind in ("cubin", "ptx")
        for overlap in ("", ", where arguments overlap")
        for arch in ("sm_90", "sm_80")
    ]
    made = build(tmp_path_factory.mktemp("fake-gpu"))
    if made is None:
        pytest.skip("no C compiler")
    link([header], tmp_path / "running")
    (tmp_path / "main.c").write_text(OVERLAPPING)
    run_c_program(tmp_path, HERE, made, [
        "disjoint overlapping overlapping overlapping disjoint disjoint 2"
    ])  # fmt: skip


def test_pointers_stay_pointers(kernels, tmp_path):
    """A C function gives kernels no memory, in which descriptors could be."""
    signature = "*fp16:16, *fp16:16, *fp32:16, i32"
    _, source = compile_kernel(
        kernels, "chained", signature, "1", tmp_path / "out", targets=["cuda:90"],
        num_warps=8, num_stages=2,
    )  # fmt: skip
    entry = re.search(r"\.entry chained\((.*?)\)", _ptx(source.read_text()), re.S)
    assert entry[1].count(".param") == 4


def test_descriptors_and_clusters(kernels, tmp_path, tmp_path_factory):
    header, source = compile_kernel(
        kernels, "described", "tensordesc<fp16[16, 16]>, *fp32:16", "1", tmp_path / "out",
        targets=["cuda:90"], num_ctas=2,
    )  # fmt: skip
    assert "CUdeviceptr d, int32_t d_shape0, int32_t d_shape1, int64_t d_stride0" in (
        header.read_text()
    )
    text = source.read_text()
    (arguments,) = re.findall(r"void \*tile_arguments\[\] = \{(.*?)\};", text)
    assert arguments.split(", ") == [
        "&d", "&d_shape0", "&d_shape1", "&d_stride0", "&d_stride1", "&d_pads_with_nan",
        "&d_shape0", "&d_shape1", "&d_stride0", "&d_stride1", "&out_ptr", "0",
    ]  # fmt: skip
    entry = re.search(r"\.entry described\((.*?)\)", _ptx(text), re.S)
    assert entry[1].count(".param") == 11
    assert ".value.clusterDim = {2, 1, 1}" in text and "gridDimX = x * 2" in text
    if shutil.which("cc"):
        command = ["cc", "-std=c11", "-Werror", f"-I{HERE}", "-c", str(source), "-o", "/dev/null"]
        subprocess.run(command, check=True)


def _ptx(source: str) -> str:
    rows = source.split("// ptx for sm_90\n")[1].split("}")[0]
    return bytes(int(n) for n in rows.replace("\n", "").split(",") if n).decode()


def test_the_command(kernels, tmp_path, capsys):
    out = tmp_path / "aot" / "tuned"
    assert main(["compile", str(kernels), "-n", "tuned", "-s", "*i32:16, i32, 64", "-g", "1",
                 "-t", "cuda:90", "-o", str(out), "-w", "2"]) == 0  # fmt: skip
    header, _ = capsys.readouterr().out.split()
    assert "blockDimX = 64" in Path(header).with_suffix(".c").read_text()
    record = json.loads(Path(header).read_text().splitlines()[1].removeprefix("// tile: "))
    assert record["algorithm"]["num_warps"] == 2 and record["conditions"] == ["p % 16 == 0"]
    assert main(["link", header, "-o", str(tmp_path / "aot" / "all")]) == 0
    assert "tuned_default" in (tmp_path / "aot" / "all.c").read_text()
    (tmp_path / "other.h").write_text("")
    assert main(["link", str(tmp_path / "other.h"), "-o", str(tmp_path / "all")]) == 1
    assert "is no header that `tile compile` wrote" in capsys.readouterr().err


@pytest.mark.parametrize("native", ["--no-ptx", "-gnc"])
def test_options_of_the_command(kernels, tmp_path, capsys, native):
    assert main(["compile", str(kernels), "-n", "tuned", "-s", "*i32, i32, 64", "-g", "1",
                 "-t", "cuda:90", "-t", "cuda:90:32", "-o", str(tmp_path / "out"), "-on", "scaled",
                 "-ns", "2", "--num-ctas", "2", native]) == 0  # fmt: skip
    header, source = map(Path, capsys.readouterr().out.split())
    assert re.search(r"CUresult scaled_\w+\(CUstream stream, CUdeviceptr p, ", header.read_text())
    record = json.loads(header.read_text().splitlines()[1].removeprefix("// tile: "))
    assert record["algorithm"]["num_stages"] == record["algorithm"]["num_ctas"] == 2
    text = source.read_text()
    assert re.findall(r"// (\w+) for (\w+)", text) == [("cubin", "sm_90")]
    assert ".value.clusterDim = {2, 1, 1}" in text


def test_python_without_this_module(kernels):
    """AOT is loaded by those who use it."""
    program = "import tile, sys; print('tile.aot' in sys.modules, 'click' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]
