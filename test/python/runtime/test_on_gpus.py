"""Launches on GPUs that are there: `TILE_DRIVER=cuda python -m pytest test/python/runtime`.

With two of them, `-m two_gpus` selects what is about several.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from fake_gpu import HERE
from threads import run_threads

import tile
import tile.language as tl
from tile import _C
from tile.aot import compile_kernel

pytestmark = pytest.mark.skipif(os.environ["TILE_DRIVER"] != "cuda", reason="needs a GPU")


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    """torch; launches go the way that they go in programs, with its tensors."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(tile.JITFunction, "__getitem__", _C.launch.subscript)
    return torch


@pytest.fixture
def two(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    return [torch.device("cuda", i) for i in range(2)]


@tile.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr = 128):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + n, mask=mask)


@tile.jit
def count_kernel(out_ptr, value):
    tl.atomic_add(out_ptr, value)


def add(x, out):
    return add_kernel[(tile.cdiv(x.numel(), 128),)](x, out, x.numel())


def check_add(torch, x, out):
    torch.testing.assert_close(out, x + x.numel())


def test_graphs_and_streams(torch):
    x = torch.randn(1000, device="cuda")
    out = torch.zeros_like(x)
    add(x, out)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        other = torch.zeros_like(x)
        add(x, other)
    side.synchronize()
    check_add(torch, x, other)
    graph = torch.cuda.CUDAGraph()
    out.zero_()
    with torch.cuda.graph(graph):
        add(x, out)
    assert not out.any()
    x.fill_(3)
    graph.replay()
    check_add(torch, x, out)


def test_many_launches_from_many_threads(torch):
    """10,000 of them, half of which wait for a kernel of their own first."""
    total = torch.zeros(1, dtype=torch.int64, device="cuda")

    def work(seed: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for i in range(1250):
                count_kernel[(1,)](total, seed * 16 + i % 3 + 1, num_warps=1 << seed % 3)
            torch.cuda.current_stream().synchronize()

    run_threads(work, range(8))
    assert total.item() == sum(s * 16 + i % 3 + 1 for s in range(8) for i in range(1250))


def test_measuring(torch):
    """By events and by a CUDA graph, and configurations chosen by the latter."""
    from tile.testing import do_bench, do_bench_cudagraph

    x = torch.randn(1 << 20, device="cuda")
    out = torch.zeros_like(x)
    for measure in (do_bench, do_bench_cudagraph):
        assert 0.0005 < measure(lambda: add(x, out)) < 50
    configs = [tile.Config({"BLOCK": block}) for block in (32, 1024)]
    tuned = tile.autotune(configs, key=["n"], use_cuda_graph=True)(add_kernel)
    out.zero_()
    tuned[lambda meta: (tile.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    check_add(torch, x, out)
    assert tuned.best_config in configs


def test_unloaded_and_loaded_again(torch):
    x = torch.randn(1000, device="cuda")
    out = torch.zeros_like(x)
    for _ in range(3):
        compiled = add(x, out)
        compiled.unload()
    check_add(torch, x, out)
    out.zero_()
    add(x, out)
    check_add(torch, x, out)


@tile.jit
def running_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr = 128):
    i = tl.arange(0, BLOCK)
    for k in tl.range(0, n, num_stages=3):
        tl.store(out_ptr + (k + 1) * BLOCK + i, tl.load(x_ptr + k * BLOCK + i) * 2 + 1)


def test_arguments_that_share_memory(torch):
    """Views of one tensor, apart and not: what is loaded may have been stored just before."""
    n, block = 6, 128
    size = (n + 1) * block
    for shift in (0, 1, 2, n, n + 1, n + 2, -1, -n, -n - 1):
        memory = torch.randint(-5, 5, (40 * block,), dtype=torch.int32)
        on_gpu = memory.cuda()
        for data in (memory, on_gpu):
            x = data[10 * block :][:size]
            out = data[(10 + shift) * block :][:size]
            if data is on_gpu:
                running_kernel[(1,)](x, out, n)
                continue
            for k in range(n):
                out[(k + 1) * block : (k + 2) * block] = x[k * block : (k + 1) * block] * 2 + 1
        torch.testing.assert_close(on_gpu.cpu(), memory)


def test_memory_that_kernels_cannot_reach(torch):
    x = torch.randn(100)
    with pytest.raises(ValueError, match="is on cpu, but kernels run on the GPU"):
        add(x, x)
    pinned, out = x.pin_memory(), torch.zeros(100, device="cuda")
    add(pinned, out)
    check_add(torch, x, out.cpu())
    # The device is as it was.
    add(out, out)
    torch.cuda.synchronize()


@tile.jit
def wide_kernel(x_ptr, N: tl.constexpr):
    same = tl.load(x_ptr + tl.arange(0, N)[:, None] * 0 + tl.arange(0, N)[None, :] * 0)
    tl.store(x_ptr, tl.sum(tl.dot(same, same, input_precision="ieee")))


def test_a_kernel_that_does_not_fit(torch):
    x = torch.randn(100, device="cuda")
    with pytest.raises(tile.OutOfResources):
        wide_kernel[(1,)](x, N=256)
    add(x, out := torch.zeros_like(x))
    check_add(torch, x, out)


KERNELS = """
import tile
import tile.language as tl

@tile.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + n, mask=mask)
"""

PROGRAM = """
#include "KERNEL.h"
#include <cuda.h>
#include <stdio.h>

#define CHECK(call)                                                            \\
  if ((call) != CUDA_SUCCESS) {                                                \\
    printf("failed: %s\\n", #call);                                            \\
    return 1;                                                                  \\
  }

int main(void) {
  enum { N = 1000 };
  static float x[N], out[N];
  CUcontext context;
  CUdeviceptr on_gpu[2];
  CHECK(cuInit(0))
  CHECK(cuDevicePrimaryCtxRetain(&context, 0))
  CHECK(cuCtxSetCurrent(context))
  for (int i = 0; i != N; ++i)
    x[i] = (float)i / 8;
  for (int i = 0; i != 2; ++i)
    CHECK(cuMemAlloc_v2(&on_gpu[i], sizeof(x)))
  CHECK(cuMemcpyHtoD_v2(on_gpu[0], x, sizeof(x)))
  CHECK(LAUNCH(0, on_gpu[0], on_gpu[1], N))
  CHECK(cuCtxSynchronize())
  CHECK(cuMemcpyDtoH_v2(out, on_gpu[1], sizeof(x)))
  for (int i = 0; i != N; ++i)
    if (out[i] != x[i] + N)
      return printf("%d: %f\\n", i, out[i]), 1;
  UNLOAD();
  puts("right");
  return 0;
}
"""


@pytest.mark.parametrize("what", ["machine code", "ptx"])
def test_a_program_in_c(torch, tmp_path, what):
    """A kernel in a program without Python; as PTX, the driver compiles it."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    kernels = tmp_path / "kernels.py"
    kernels.write_text(KERNELS)
    major, minor = torch.cuda.get_device_capability()
    target = f"cuda:{major * 10 + minor}" if what == "machine code" else "cuda:80"
    signature, grid = "*fp32:16, *fp32:16, i32, 128", "(n + 127) / 128"
    header, source = compile_kernel(
        kernels, "add_kernel", signature, grid, tmp_path / "out", targets=[target]
    )
    name = "add_kernel_" + header.stem.removeprefix("out.")
    text = PROGRAM.replace("KERNEL", header.stem).replace("UNLOAD", f"unload_{name}")
    (tmp_path / "main.c").write_text(text.replace("LAUNCH", name))
    real = Path("/usr/local/cuda/include")
    include = real if (real / "cuda.h").exists() else HERE
    program = tmp_path / "program"
    subprocess.run(
        [compiler, "-std=c11", f"-I{include}", f"-I{tmp_path}", str(tmp_path / "main.c"),
         str(source), "-l:libcuda.so.1", "-L/usr/lib/x86_64-linux-gnu", "-L/usr/local/nvidia/lib64",
         "-o", str(program)], check=True,
    )  # fmt: skip
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "right\n", done


# Several GPUs.


@pytest.mark.two_gpus
def test_each_device(torch, two):
    for _ in range(2):
        for device in two:
            with torch.cuda.device(device):
                x = torch.randn(1000, device=device)
                out = torch.zeros_like(x)
                add(x, out)
                check_add(torch, x, out)


@pytest.mark.two_gpus
def test_a_tensor_of_another_device(torch, two):
    x = torch.randn(1000, device=two[0])
    far = torch.zeros(1000, device=two[1])
    for _ in range(2):
        try:
            add(x, far)
        except tile.DriverError as error:
            assert "is on cuda:1, but the kernel is launched on cuda:0" in str(error)
        else:  # torch has made one reach the other.
            torch.cuda.synchronize()
            check_add(torch, x, far.to(two[0]))
    with torch.cuda.device(two[1]):
        add(far, far)
    far.copy_(x)  # From now on one device may reach the other.


@pytest.mark.two_gpus
def test_devices_of_threads(torch, two):

    def work(device) -> None:
        with torch.cuda.device(device), torch.cuda.stream(torch.cuda.Stream(device)):
            for i in range(300):
                x = torch.full((100 + i % 3,), float(i), device=device)
                out = torch.zeros_like(x)
                add(x, out)
                check_add(torch, x, out)

    run_threads(work, [two[i % 2] for i in range(4)])


@pytest.mark.two_gpus
def test_unloaded_and_captured_on_each_device(torch, two):
    compiled = add_kernel.warmup(torch.float32, torch.float32, 1000, grid=(8,))
    data = {}
    for device in two:
        with torch.cuda.device(device):
            x = torch.randn(1000, device=device)
            data[device] = x, torch.zeros_like(x)
            compiled[(8,)](*data[device], 1000)
            check_add(torch, *data[device])
    compiled.unload()
    for device in two:
        with torch.cuda.device(device):
            x, out = data[device]
            out.zero_()
            add(x, out)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=torch.cuda.Stream(device)):
                add(x, out)
            out.zero_()
            graph.replay()
            check_add(torch, x, out)


@pytest.mark.two_gpus
def test_measured_on_each_device(torch, two):
    from tile.testing import do_bench_cudagraph

    for device in two:
        with torch.cuda.device(device):
            x = torch.randn(1 << 20, device=device)
            out = torch.zeros_like(x)
            assert 0.0005 < do_bench_cudagraph(lambda x=x, out=out: add(x, out)) < 50
            check_add(torch, x, out)
