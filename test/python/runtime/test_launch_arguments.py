"""What launches pass for arguments of every kind."""

from __future__ import annotations

import collections
import ctypes
import struct
import sys
from fractions import Fraction

import numpy as np
import pytest
from exact import FORMATS
from reference import sim_only

import tile
import tile.language as tl
from tile import _C
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from tile.experimental.gluon.nvidia.hopper import TensorDescriptorIm2Col
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = sim_only


@tile.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


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


def test_parameters_that_are_given_by_name_alone(gpu):
    """Whether Python or C++ binds them."""

    @tile.jit
    def kernel(out, n=5, *, a, C: tl.constexpr = 3):
        tl.store(out, n * 100 + a * 10 + C)

    out = gpu.tensor(0x1000, tl.int32)
    launches = gpu.record(3)
    for _ in range(3):
        kernel[(1,)](out, 7, a=8)
        assert struct.unpack("<ii", launches[-1][2][1][:4] + launches[-1][2][2][:4]) == (7, 8)
        for wrong in ((out, 7, 8), (out, 7, 8, 3)):
            with pytest.raises(tile.LaunchError, match="positional arguments but"):
                kernel[(1,)](*wrong)
        with pytest.raises(tile.LaunchError, match="missing 1 required keyword-only argument: 'a'"):
            kernel[(1,)](out, 7)


Pair = collections.namedtuple("Pair", "first second")


def test_a_grid_that_asks_for_an_unknown_name(gpu):
    """The first launch goes through Python, later ones do not: all say which names there are."""
    out = gpu.tensor(0x1000, tl.float32)
    for _ in range(3):
        with pytest.raises(tile.LaunchError, match=r"asks for 'BLOK'.*did you mean `BLOCK`"):
            copy[lambda meta: (meta["BLOK"],)](out, out, 8)
        first = copy[lambda meta: (meta["n"],)](out, out, 8)
    assert copy[lambda meta: (meta["n"],)](out, out, 8) is first
    # What the function looks up elsewhere is its own.
    with pytest.raises(KeyError, match="mine"):
        copy[lambda meta: ({}["mine"],)](out, out, 8)


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


@gluon.jit
def pixels_kernel(d):
    buffer = gl.allocate_shared_memory(d.dtype, d.block_shape, d.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, d.nbytes_per_cta)
    tma.async_load_im2col(d, [0, 0, 0, 0], [1, 2], bar, buffer)
    mbarrier.wait(bar, 0)


def test_tensor_maps_of_pixels(gpu):
    maps = []

    def keep(config, function, parameters):
        # Behind the parts, and the shape and strides that the kernel sees.
        at = 1 + 5 + 5 + 1 + 1 + 5 + 3 + 3 + 2 * 4
        maps.append(np.array((ctypes.c_uint32 * 32).from_address(parameters[at])).tolist())

    gpu.on_launch(keep)
    base = gpu.tensor(0x1000, tl.float16)
    layout = gl.NVMMASharedLayout(64, 16, rank=2)
    for lower in (-1, -2):
        desc = TensorDescriptorIm2Col(
            base, [2, 9, 8, 64], [9 * 8 * 64, 8 * 64, 64, 1], [128, 32], layout,
            element_strides=[1, 3, 2, 1], pixel_box_lower_corner=[lower, 0],
            pixel_box_upper_corner=[1, -2],
        )  # fmt: skip
        for _ in range(2):
            pixels_kernel[(1,)](desc)
    assert len(maps) == 4 and maps[0] == maps[1] != maps[2] == maps[3]
    found = maps[0]
    assert found[:5] == [6, 4, 0x1000, 2, 0]
    assert found[8:12] == [64, 8, 9, 2] and found[16:18] == [32, 128]
    assert found[24:27] == [64 * 2, 8 * 64 * 2, 9 * 8 * 64 * 2]
    # Along W and H: the corners, and the steps.
    assert found[18:20] == [0, 2**32 - 1] and found[21:23] == [2**32 - 2, 1]
    assert found[5:7] == [2, 3]


def test_tensor_maps_are_made_once(gpu):
    """Of descriptors that a launch before passed, and anew where one of their parts differs."""

    @tile.jit
    def kernel(d, n):
        for i in range(0, n, 16):
            d.store([i, 0], d.load([i, 0]) + 1)

    seen, made = [], []

    def keep(config, function, parameters):
        seen.append(bytes((ctypes.c_char * 128).from_address(parameters[11])))

    gpu.on_launch(keep)
    parts = [
        (address, [rows, 32], [stride, 1], padding)
        for address in (0x1000, 0x2000)
        for rows in (64, 128)
        for stride in (48, 64)
        for padding in ("zero", "nan")
    ]
    for times in (1, 3):
        for address, shape, strides, padding in parts:
            base = gpu.tensor(address, tl.float16)
            descriptor = TensorDescriptor(base, shape, strides, [16, 16], padding)
            for _ in range(times):
                before = gpu.counter("maps")
                kernel[(1,)](descriptor, 64)
                made.append(gpu.counter("maps") - before)
    assert made == [1] * len(parts) + [1, 0, 0] * len(parts)
    first, again = seen[: len(parts)], seen[len(parts) :]
    assert len(set(first)) == len(parts)
    assert again == [data for data in first for _ in range(3)]


def target_of(base, shape):
    return TensorDescriptor(base, shape, [48, 1], [16, 16])


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


@pytest.mark.parametrize("in_c", [False, True])
def test_memory_that_was_given_back(gpu, in_c):
    """As torch's tensors are whose storage was resized to nothing; empty ones never had any."""

    class Tensor(viewed(gpu) if in_c else gpu.tensor):
        count = 6

        def numel(self):
            return self.count

    x, lost, empty = (Tensor(address, tl.float32) for address in (0x1000, 0, 0))
    empty.count = 0
    for _ in range(2):
        copy[(1,)](x, empty, 0)
        with pytest.raises(tile.DriverError, match="memory of a tensor's 6 elements was given ba"):
            copy[(1,)](x, lost, 5)


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
