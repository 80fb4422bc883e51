"""Launches, as the driver sees them: on a GPU that is not there."""

from __future__ import annotations

import collections
import ctypes
import gc
import importlib
import os
import struct
import sys
import threading
import time
import types
import weakref
from fractions import Fraction

import numpy as np
import pytest
from exact import FORMATS
from reference import sim_only
from threads import run_threads

import tile
import tile.language as tl
from tile import _C, knobs
from tile.errors import DriverError
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = sim_only


@tile.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@tile.jit
def nothing():
    pass


def test_what_the_driver_gets(gpu):
    launches, loads = gpu.record(3), gpu.counter("loads")
    x, y = gpu.tensor(0x1000, tl.float32), gpu.tensor(0x2004, tl.float32)
    for _ in range(2):  # Once by way of Python, once without.
        kernel = copy[(5, 2, 3)](x, y, 7, num_warps=8)
        assert kernel.num_warps == 8
    for config, attributes, parameters in launches:
        assert config == {"grid": (5, 2, 3), "block": (256, 1, 1), "shared": kernel.shared,
                          "stream": 0}  # fmt: skip
        assert attributes == {}
        assert struct.unpack("<QQi", b"".join(parameters[i] for i in range(3))[:20]) == (
            0x1000, 0x2004, 7,
        )  # fmt: skip
    assert len(launches) == 2 and gpu.counter("loads") - loads == 1


def typed_kernel(types: str):
    """A kernel with one parameter for each type."""
    names = [f"a{i}" for i in range(len(types.split()))]
    namespace = {"tile": tile, "tl": tl}
    parameters = ", ".join(f"{n}: '{t}'" for n, t in zip(names, types.split(), strict=True))
    text = f"@tile.jit\ndef kernel(p, {parameters}):\n"
    text += "".join(f"    tl.store(p + {i}, {n}.to(tl.float32))\n" for i, n in enumerate(names))
    import linecache

    linecache.cache["<typed>"] = (len(text), None, text.splitlines(True), "<typed>")
    exec(compile(text, "<typed>", "exec"), namespace)
    return namespace["kernel"]


def test_numbers_of_every_type(gpu):
    kinds = "i1 i8 i16 i32 i64 u8 u16 u32 u64 fp16 fp32 fp64 bf16"
    kernel = typed_kernel(kinds)
    launches = gpu.record(14)
    values = [True, -5, -300, -70000, -(2**40), 200, 60000, 2**31 + 5, 2**63 + 9,
              0.333, 0.333, 0.333, 0.333]  # fmt: skip
    for _ in range(2):
        kernel[(1,)](gpu.tensor(0x4000, tl.float32), *values)
    bf16 = struct.pack("<I", (struct.unpack("<I", struct.pack("<f", 0.333))[0] + 0x7FFF) & ~0xFFFF)
    expected = [struct.pack("<" + f, v) for f, v in zip("?bhiqBHIQefd", values, strict=False)]
    for _, _, parameters in launches:
        for i, data in enumerate([*expected, bf16[2:]]):
            assert parameters[i + 1][: len(data)] == data, kinds.split()[i]


@pytest.mark.parametrize("name", ["fp16", "bf16"])
def test_numbers_of_16_bits_are_rounded_once(name):
    """At the midpoints of neighbours, and a little beside them, where rounding to fp32 first
    would go the other way."""
    form = FORMATS[name]
    rng = np.random.default_rng(0)
    for low in map(int, rng.integers(1, form.largest, 500)):
        middle = (form.value(low) + form.value(low + 1)) / 2
        for off in (-1, 0, 1):
            number = float(middle) * (1 + off * 2.0**-40)
            bits = _C.launch.round_to_16_bits(number, name == "bf16")
            assert bits == form.nearest(Fraction(number)), number
    assert _C.launch.round_to_16_bits(1e39, name == "bf16") == form.largest + 1


def test_numbers_that_do_not_fit(gpu):
    with pytest.raises(tile.TileError, match="does not fit in 64 bits"):
        copy[(1,)](gpu.tensor(0x1000, tl.float32), gpu.tensor(0x1000, tl.float32), 2**64)


def test_integers_that_do_not_fit_their_parameter(gpu):
    """Whether Python or C++ packs them: the second launch finds a compiled kernel."""

    @tile.jit
    def kernel(out, a: tl.int8, b: tl.uint16, c: tl.uint64, d: tl.int1):
        tl.store(out, a + b + c.to(tl.int32) + d)

    out = gpu.tensor(0x1000, tl.int32)
    launches = gpu.record(5)
    for values in ((-128, 2**16 - 1, 2**64 - 1, True), (127, 0, 2**63, np.bool_(False))):
        for _ in range(2):
            kernel[(1,)](out, *values)
            packed = [launches[-1][2][i + 1][:n] for i, n in enumerate((1, 2, 8, 1))]
            assert packed == [struct.pack(f, v) for f, v in zip("bHQ?", values, strict=True)]
    for i, wrong in enumerate((128, 2**16, 2**64, 2)):
        values = [5, 6, 7, True]
        values[i] = wrong
        for _ in range(2):
            with pytest.raises(tile.LaunchError, match="fit"):
                kernel[(1,)](out, *values)


Pair = collections.namedtuple("Pair", "first second")


def test_numbers_that_no_longer_fit(gpu):
    """What is wrong with an argument is said of that argument, also on the way without Python."""

    @tile.jit
    def kernel(out, a: u8, b: i16):  # noqa: F821
        tl.store(out, a + b)

    out = gpu.tensor(0x1000, tl.int32)
    kernel[(1,)](out, 0, 0)
    for _ in range(2):
        with pytest.raises(tile.LaunchError, match="the argument `a`: 256 does not fit in u8"):
            kernel[(1,)](out, 256, 0)
        with pytest.raises(tile.LaunchError, match="the argument `b`: 32768 does not fit in i16"):
            kernel[(1,)](out, 0, 2**15)


def test_tuples(gpu):
    @tile.jit
    def kernel(pair, several):
        x, (n, m) = several
        tl.store(pair.first + n + m, x)
        tl.store(pair.second, x)

    a, b = gpu.tensor(0x10, tl.int32), gpu.tensor(0x20, tl.int32)
    for n, m, passed in ((5, 6, (3, 5, 6)), (7, 8, (3, 7, 8)), (1, 9, (3, 9))):  # 1 is compiled in.
        launches = gpu.record(2 + len(passed))
        for _ in range(2):
            compiled = kernel[(1,)](Pair(a, b), (3, (n, m)))
        for _, _, p in launches:
            assert [struct.unpack("<Q", data)[0] for data in p[:2]] == [0x10, 0x20]
            assert tuple(struct.unpack("<i", data[:4])[0] for data in p[2:]) == passed
    assert kernel[(1,)](Pair(b, a), (3, (1, 10))) is compiled


def test_descriptors(gpu):
    @tile.jit
    def kernel(d, out):
        tl.store(out + tl.arange(0, 16), tl.sum(d.load([0, 0]).to(tl.float32), 1))

    launches = gpu.record(11)
    out = gpu.tensor(0x9000, tl.float32)
    for shape in ([64, 32], [128, 48]):
        base = gpu.tensor(0x1000, tl.float16)
        descriptor = TensorDescriptor(base, shape, [shape[1], 1], [16, 16])
        for _ in range(2):
            kernel[(1,)](descriptor, out)
    for (_, _, p), (rows, columns) in zip(launches, [(64, 32)] * 2 + [(128, 48)] * 2, strict=True):
        assert struct.unpack("<Q", p[0]) == (0x1000,)
        assert [struct.unpack("<i", p[i][:4])[0] for i in (1, 2)] == [rows, columns]
        assert [struct.unpack("<q", p[i])[0] for i in (3, 4)] == [columns, 1]
        assert struct.unpack("<Q", p[10])[0] == 0x9000
    assert gpu.counter("launches") >= 4


def test_tensor_maps(gpu):
    @tile.jit
    def kernel(d, n, e):
        for i in range(0, n, 16):
            e.store([0, i, 0], d.load([i, 0]).reshape(1, 16, 16))

    maps = []

    def keep(config, function, parameters):
        words = [(ctypes.c_uint32 * 32).from_address(parameters[i]) for i in (25, 26)]
        maps.append([np.array(w) for w in words])

    gpu.on_launch(keep)
    base = gpu.tensor(0x1000, tl.float16)
    target = TensorDescriptor(gpu.tensor(0x4000, tl.float16), [3, 5, 32], [256, 32, 1], [1, 16, 16])
    for padding in ("zero", "nan"):
        for _ in range(2):
            kernel[(1,)](TensorDescriptor(base, [64, 32], [48, 1], [16, 16], padding), 64, target)
    assert len(maps) == 4
    for i, (first, second) in enumerate(maps):
        # CU_TENSOR_MAP_DATA_TYPE_FLOAT16, rank, address, CU_TENSOR_MAP_SWIZZLE_32B, NaNs
        assert first[:5].tolist() == [6, 2, 0x1000, 1, i // 2]
        assert first[8:10].tolist() == [32, 64] and first[16:18].tolist() == [16, 16]
        assert first[24] == 48 * 2
        assert second[:5].tolist() == [6, 3, 0x4000, 1, 0]
        assert second[8:11].tolist() == [32, 5, 3] and second[16:19].tolist() == [16, 16, 1]
        assert second[24:26].tolist() == [32 * 2, 256 * 2]
    # What no map describes goes by pointers.
    gpu.on_launch(None)
    assert "bulk.tensor" in kernel[(1,)](target_of(base, [64, 32]), 64, target).asm["ptx"]
    for rows, columns in ((7, 32), (64, 31)):
        refused = kernel[(1,)](target_of(base, [rows, columns]), 64, target)
        assert "bulk.tensor" not in refused.asm["ptx"]


def target_of(base, shape):
    return TensorDescriptor(base, shape, [48, 1], [16, 16])


@pytest.mark.parametrize(
    ("option", "attribute", "value"),
    [
        ({"num_ctas": 2}, 4, (2, 1, 1)),
        ({"launch_cooperative_grid": True}, 2, (1, 0, 0)),
        ({"launch_pdl": True}, 6, (1, 0, 0)),
    ],
)
def test_attributes(gpu, option, attribute, value):
    launches = gpu.record(0)
    for _ in range(2):
        nothing[(3,)](**option)
    for config, attributes, _ in launches:
        assert attributes == {attribute: value}
        assert config["grid"] == (3 * option.get("num_ctas", 1), 1, 1)


def test_grids(gpu):
    launches = gpu.record(3)
    seen = []

    def grid(meta):
        seen.append(meta)
        return tile.cdiv(meta["n"], meta["BLOCK"]), 2

    x = gpu.tensor(0x1000, tl.float32)
    for given in (grid, grid, 4, (4,), [4, 1], (np.int64(4),)):
        copy[given](x, x, 100)
    assert [c["grid"] for c, _, _ in launches] == [(2, 2, 1)] * 2 + [(4, 1, 1)] * 4
    assert seen == [{"x_ptr": x, "out_ptr": x, "n": 100, "BLOCK": 64}] * 2
    launches.clear()
    for given in ((0,), (3, 0), lambda meta: (0, 1)):
        copy[given](x, x, 100)
    assert launches == []


def test_no_python_on_the_way(gpu):
    x = gpu.tensor(0x1000, tl.float32)
    keywords = {"out_ptr": x, "n": 50}
    copy[(1,)](x, **keywords)
    copy[(1,)](x, x, 50, BLOCK=32, num_warps=8)
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append((event, frame.f_code.co_name)))
    copy[(1,)](x, **keywords)
    copy[(2, 3)](x, x, 50, BLOCK=32, num_warps=8)
    sys.setprofile(None)
    assert [name for event, name in calls if event == "call"] == []
    assert gpu.counter("launches") >= 4


def test_specialisation_is_the_same_on_both_ways(gpu):
    """What the launch path tells apart is what the compiler is told."""
    kernels = {}
    x = gpu.tensor(0x1000, tl.float32)
    odd = gpu.tensor(0x1004, tl.float32)
    half = gpu.tensor(0x1000, tl.float16)
    arguments = [(x, 16), (x, 17), (x, 1), (odd, 17), (half, 17), (x, 2**40), (x, 2**40 + 1),
                 (x, True), (x, 1.5), (x, 2**63), (x, 2**63 + 1)]  # fmt: skip
    for p, n in arguments:
        first = copy[(1,)](p, p, n)
        assert copy[(1,)](p, p, n) is first
        kernels[first.hash] = str(first.signature), first.asm["ttir"]
    assert len(kernels) == len(arguments)


def test_the_gil_is_free_while_the_driver_works(gpu):
    copy_args = gpu.tensor(0x1000, tl.float32), gpu.tensor(0x2000, tl.float32), 5
    copy[(1,)](*copy_args)
    gpu.library.fake_set(1, None, 200_000)
    thread = threading.Thread(target=lambda: copy[(1,)](*copy_args))
    thread.start()
    start = time.perf_counter()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0)
    # With the GIL held there would be one or two, however busy the machine is.
    assert turns > 10 and time.perf_counter() - start > 0.1


def test_many_launches_from_many_threads(gpu):
    @tile.jit
    def kernel(a: u64, b: u64, out):  # noqa: F821
        tl.store(out, a + b)

    gpu.library.fake_set(
        1, __import__("ctypes").cast(gpu.library.fake_check_pairs, __import__("ctypes").c_void_p), 0
    )
    out = gpu.tensor(0x1000, tl.int64)
    kernel[(1,)](3, 10, out)
    before = gpu.counter("launches")

    def work(seed: int) -> None:
        for i in range(1250):
            value = seed * 10_000 + i + 2
            kernel[(seed + 1,)](value, value * 3 + seed + 1, out)

    run_threads(work, range(8))
    assert gpu.counter("launches") - before == 10_000
    assert gpu.counter("wrong_pairs") == 0


def test_the_first_launch_from_many_threads(gpu):
    @tile.jit
    def kernel(out, N: tl.constexpr):
        tl.store(out, N)

    def work(n: int) -> None:
        for i in range(4):
            kernel[(1,)](gpu.tensor(0x1000, tl.int32), (n + i) % 5)

    run_threads(work, range(6))


def test_devices(two_gpus, monkeypatch):
    torch = types.ModuleType("torch")
    device = [0]
    torch.cuda = types.SimpleNamespace(
        is_initialized=lambda: True, current_device=lambda: device[0]
    )
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda d: 0x70 + d)
    monkeypatch.setitem(sys.modules, "torch", torch)
    launches = two_gpus.record(3)
    loads = two_gpus.counter("loads")
    for turn in (0, 1, 0, 1):
        device[0] = turn
        two_gpus.library.fake_switch_device(turn)
        x = two_gpus.tensor(0x1000, tl.float32, turn)
        copy[(1,)](x, x, 5)
    assert [c["stream"] for c, _, _ in launches] == [0x70, 0x71] * 2
    assert two_gpus.counter("loads") - loads == 2, "loaded once for each device"
    elsewhere = two_gpus.tensor(0x8000, tl.float32, 0)
    with pytest.raises(tile.DriverError, match=r"is on cuda:0, but the kernel is launched on cud"):
        copy[(1,)](x, elsewhere, 5)
    two_gpus.library.fake_make_accessible(0x8000)
    copy[(1,)](x, elsewhere, 5)


def viewed(gpu):
    """The class of tensors that describe themselves in C, as torch's do."""
    return sys.modules[gpu.tensor.__module__].Viewed


def test_tensors_read_in_c(gpu):
    launches = gpu.record(3)
    plain, new = gpu.tensor, viewed(gpu)
    kernels = {}
    for dtype in (tl.float32, tl.float16, tl.int32):
        for address in (0x1000, 0x1004, 0x100C):
            x, y = (cls(address, dtype) for cls in (plain, new))
            for _ in range(2):
                same = [copy[(1,)](a, a, 7) for a in (x, y)]
                assert same[0].signature == same[1].signature
                assert same[0].src.attrs == same[1].src.attrs
                assert (
                    launches[-1][2][:2] == launches[-2][2][:2] == [struct.pack("<Q", address)] * 2
                )
            kernels[same[1].hash] = same[1]
    assert len(kernels) == 6
    calls = []
    sys.setprofile(lambda frame, event, function: calls.append((event, function)))
    copy[(1,)](y, y, 7)
    sys.setprofile(None)
    names = [getattr(f, "__name__", "") for event, f in calls if event == "c_call"]
    assert not {"data_ptr", "get_device"} & set(names)


def test_tensors_read_in_c_that_are_elsewhere(two_gpus):
    new = viewed(two_gpus)
    x = new(0x1000, tl.float32)
    for host in (new(0x5000, tl.float32, -1), new(0x5000, tl.int64, -1)):
        for _ in range(2):
            with pytest.raises(tile.DriverError, match="is on cpu, but kernels run on the GPU"):
                copy[(1,)](x, host, 5)
    for _ in range(2):
        with pytest.raises(tile.DriverError, match="is on cuda:1, but the kernel is launched on"):
            copy[(1,)](x, new(0x6000, tl.float32, 1), 5)


def test_descriptors_read_in_c(gpu):
    @tile.jit
    def kernel(d, out):
        tl.store(out, tl.sum(tl.sum(d.load([0, 0]), 1), 0))

    launches, new = gpu.record(1), viewed(gpu)
    out = new(0x9000, tl.float32)
    for address in (0x1000, 0x2000):
        d = TensorDescriptor(new(address, tl.float32), [64, 64], [64, 1], [16, 16])
        kernel[(1,)](d, out)
        assert launches[-1][2] == [struct.pack("<Q", address)]
    on_host = TensorDescriptor(new(0x3000, tl.float32, -1), [64, 64], [64, 1], [16, 16])
    with pytest.raises(tile.DriverError, match="is on cpu, but kernels run on the GPU"):
        kernel[(1,)](on_host, out)


def test_a_subclass_answers_itself(gpu):
    launches = gpu.record(1)

    class Wrapped(viewed(gpu)):
        def data_ptr(self):
            return 0x2000

    x = Wrapped(0x1000, tl.float32)
    copy[(1,)](x, x, 5)
    copy[(1,)](x, x, 5)
    assert [given for _, _, given in launches] == [[struct.pack("<Q", 0x2000)]] * 2


def test_memory_of_the_host(gpu):
    x, host = gpu.tensor(0x1000, tl.float32), gpu.tensor(0x5000, tl.float32, -1)
    for _ in range(2):
        with pytest.raises(tile.DriverError, match="is on cpu, but kernels run on the GPU"):
            copy[(1,)](x, host, 5)
    gpu.library.fake_make_accessible(0x5000)  # Pinned, say.
    for _ in range(2):
        copy[(1,)](x, host, 5)
    with pytest.raises(tile.DriverError, match="is on cpu, but kernels run on the GPU"):
        copy[(1,)](x, gpu.tensor(0x6000, tl.float32, -1), 5)


def test_a_launch_that_the_driver_refuses(gpu):
    x = gpu.tensor(0x1000, tl.float32)
    for _ in range(2):
        gpu.library.fake_fail_next(719)
        with pytest.raises(
            tile.DriverError, match=r"cannot launch `copy`: unspecified launch fail"
        ):
            copy[(1,)](x, x, 5)
        copy[(1,)](x, x, 5)


def test_scratch_memory(gpu):
    sizes = []

    def allocate(size, alignment, stream):
        sizes.append((size, alignment, stream))
        return gpu.tensor(0xABC00, tl.int8)

    kernel = nothing[(1,)]()
    kernel._metadata["global_scratch_size"], kernel._metadata["global_scratch_align"] = 48, 64
    from tile.runtime.driver import driver

    launches = gpu.record(1)
    launch = driver.active.make_launcher(kernel, {})
    tile.set_allocator(allocate)
    try:
        launch(2, 3, 1, 0x55, ())
    finally:
        tile.set_allocator(None)
    assert sizes == [(48 * 6, 64, 0x55)]
    assert struct.unpack("<Q", launches[0][2][0]) == (0xABC00,)


# Hooks.


def test_hooks_of_launches(gpu):
    seen = []

    @tile.jit(launch_metadata=lambda grid, kernel, args: {"bytes": args["n"] * 4, "grid": grid})
    def kernel(p, n):
        tl.store(p, n)

    def enter(metadata):
        seen.append(("enter", metadata.get()))

    def leave(metadata):
        seen.append(("exit", metadata.get()["name"]))

    p = gpu.tensor(0x1000, tl.int32)
    kernel[(2,)](p, 5)
    assert seen == []
    runtime = knobs.runtime
    runtime.launch_enter_hook.add(enter)
    runtime.launch_enter_hook.add(enter)
    runtime.launch_exit_hook.add(leave)
    try:
        kernel[(2,)](p, 5)
    finally:
        runtime.launch_enter_hook.remove(enter)
        runtime.launch_exit_hook.remove(leave)
    assert [what for what, _ in seen] == ["enter", "exit"]
    assert seen[0][1]["bytes"] == 20 and seen[0][1]["grid"] == (2, 1, 1)
    assert seen[0][1]["name"] == "kernel" and seen[0][1]["stream"] == 0
    with runtime.scope():
        runtime.launch_enter_hook = enter
        kernel[(2,)](p, 5)
    kernel[(2,)](p, 5)
    assert len(seen) == 3


def test_hooks_of_compiles():
    seen = []

    @tile.jit
    def kernel(p, n, N: tl.constexpr):
        tl.store(p, n + N)

    p = np.zeros(1, np.int32)
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **told: seen.append(("before", told))
        knobs.runtime.jit_post_compile_hook = lambda **told: seen.append(("after", told))
        kernel[(1,)](p, 5, N=2, num_warps=2)
        kernel[(1,)](p, 7, N=2, num_warps=2)
        kernel.warmup(p, 16, N=3, grid=(1,))
    kernel[(1,)](p, 5, N=4)
    assert [when for when, _ in seen] == ["before", "after"] * 2
    told = seen[1][1]
    assert told["fn"].jit_function is kernel and told["fn"].name == "kernel"
    assert told["compile"]["num_warps"] == 2 and told["compile"]["signature"]["n"] == "i32"
    assert told["repr"].startswith("kernel[") and told["key"] != seen[3][1]["key"]
    assert [t["is_manual_warmup"] for _, t in seen] == [False, False, True, True]


def test_the_order_of_hooks():
    calls = []
    chain, back = knobs.HookChain(), knobs.HookChain(reversed=True)
    for hooks in (chain, back):
        assert not hooks
        for i in range(3):
            hooks.add(lambda value, i=i: calls.append((i, value)))
        assert hooks
        hooks("x")
    assert [i for i, _ in calls] == [0, 1, 2, 2, 1, 0]


def test_hooks_of_a_kernel(gpu):
    seen = []
    p = gpu.tensor(0x1000, tl.int32)

    @tile.jit
    def kernel(p, n):
        tl.store(p, n)

    kernel[(1,)](p, 5)
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append((args, kwargs)))
    kernel[(1,)](p, n=5)
    assert seen == [((p,), {"n": 5})]


# What changes behind a kernel's back.


def test_a_global_that_changes(gpu):
    namespace = {"tile": tile, "tl": tl, "N": tl.constexpr(4)}
    text = "@tile.jit\ndef inner(p):\n    tl.store(p, N)\n@tile.jit\ndef kernel(p):\n    inner(p)\n"
    import linecache

    linecache.cache["<globals>"] = (len(text), None, text.splitlines(True), "<globals>")
    exec(compile(text, "<globals>", "exec"), namespace)
    kernel, p = namespace["kernel"], gpu.tensor(0x1000, tl.int32)
    kernel[(1,)](p)
    namespace["N"] = tl.constexpr(4)  # The same: nothing to complain about.
    kernel[(1,)](p)
    namespace["N"] = tl.constexpr(5)
    with pytest.raises(tile.TileError, match=r"the global `N` is .*5.* now, but `kernel` was comp"):
        kernel[(1,)](p)


class Config:
    N = 4


@tile.jit
def configured(p):
    tl.store(p, Config.N)


def test_an_attribute_that_changes(gpu, monkeypatch):
    p = gpu.tensor(0x1000, tl.int32)
    for _ in range(3):
        configured[(1,)](p)
    with monkeypatch.context() as patch:
        patch.setattr(Config, "N", 5)
        with pytest.raises(tile.TileError, match=r"`Config.N` is 5 now, but `configured` was"):
            configured[(1,)](p)
    configured[(1,)](p)


def test_a_closure_that_changes(gpu):
    n = tl.constexpr(4)

    @tile.jit
    def kernel(p):
        tl.store(p, n)

    p = gpu.tensor(0x1000, tl.int32)
    for _ in range(3):
        kernel[(1,)](p)
    n = tl.constexpr(5)
    with pytest.raises(tile.TileError, match=r"the variable `n` of the function around it is .*5"):
        kernel[(1,)](p)


def test_references_cost_no_python(gpu, monkeypatch):
    p = gpu.tensor(0x1000, tl.int32)
    configured[(1,)](p)
    monkeypatch.setattr(type(configured.launcher()), "run", None)
    for _ in range(3):
        configured[(1,)](p)


def test_kernels_that_nobody_needs_are_freed(gpu):
    @tile.jit
    def kernel(p):
        tl.store(p, 1)

    compiled = weakref.ref(kernel[(1,)](gpu.tensor(0x1000, tl.int32)))
    kernel[(1,)](gpu.tensor(0x1000, tl.int32))
    function = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert function() is None and compiled() is None


def test_run_and_subclasses(gpu):
    launches = gpu.record(3)
    x = gpu.tensor(0x1000, tl.float32)
    copy.run(x, x, 5, grid=(7,), warmup=False)
    assert launches[-1][0]["grid"] == (7, 1, 1)
    count = len(launches)
    assert ".entry copy" in copy.run(x, x, 5, grid=(7,), warmup=True).asm["ptx"]
    assert len(launches) == count

    class Counting(tile.JITFunction):
        runs = 0

        def run(self, *args, grid, warmup=False, **kwargs):
            self.runs += 1
            return super().run(*args, grid=grid, warmup=warmup, **kwargs)

    counting = Counting(copy.fn)
    counting[(9,)](x, x, 5)
    assert counting.runs == 1 and launches[-1][0]["grid"] == (9, 1, 1)


def test_a_compiled_kernel_is_launched_itself(gpu):
    launches = gpu.record(3)
    x = gpu.tensor(0x1000, tl.float32)
    kernel = copy.warmup(x, x, 5, grid=(1,))
    kernel[(3,)](x, x, 5)
    assert launches[-1][0]["grid"] == (3, 1, 1)


def test_interpreting_starts_and_ends(gpu, monkeypatch):
    out = np.zeros(64, np.float32)
    x = gpu.tensor(0x1000, tl.float32)
    copy[(1,)](x, x, 64)
    before = gpu.counter("launches")
    monkeypatch.setenv("TILE_INTERPRET", "1")
    copy[(1,)](np.ones(64, np.float32), out, 64)
    assert out.sum() == 64 and gpu.counter("launches") == before
    monkeypatch.delenv("TILE_INTERPRET")
    copy[(1,)](x, x, 64)
    assert gpu.counter("launches") == before + 1


def test_arguments_that_run_python(gpu):
    """A data_ptr() that launches the same kernel, which has not been compiled for it yet."""
    x = gpu.tensor(0x1000, tl.float32)

    class Recursive:
        dtype, is_cuda, depth = tl.float32, True, 0

        def data_ptr(self):
            if Recursive.depth < 2:
                Recursive.depth += 1
                copy[(1,)](self, x, 1000 + Recursive.depth)
            return 0x1000

    copy[(1,)](x, Recursive(), 999)
    assert Recursive.depth == 2


def test_a_forked_process_compiles_and_says_why_it_does_not_launch(gpu):
    driver = importlib.import_module("tile.backends.nvidia.cuda_driver")
    assert driver.CudaDriver.is_active()
    child = os.fork()
    if child == 0:
        # As in a compile worker, where nobody asked for the driver before the fork.
        driver._load.cache_clear()
        driver.libcuda.cache_clear()
        held = driver.CudaDriver.is_active()
        try:
            assert driver.CudaDriver().library
        except DriverError as error:
            held = held and "forked" in str(error)
        else:
            held = False
        os._exit(0 if held else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
