"""What libraries read, call and derive from, beside launching."""

from __future__ import annotations

import copy
import pickle
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from reference import on_nvidia, poisoned, random, sim_only

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compiler import ASTSource, make_backend
from tile.runtime import specialization
from tile.runtime.autotuner import Autotuner


@tile.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * factor, mask=offsets < n)


SIGNATURE = {
    "x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "factor": "fp32", "BLOCK": "constexpr",
}  # fmt: skip


def compiled(**attrs):
    source = ASTSource(scale_kernel, SIGNATURE, {"BLOCK": 64}, {(0,): [["tt.divisibility", 16]]})
    return tile.compile(source, target=GPUTarget("cuda", 90, 32), stop_at="ptx")


def test_backends_by_name():
    """Libraries ask each which kinds of devices there are."""
    from tile.compat.triton.backends import DriverBase, backends

    assert set(backends) == {"amd", "nvidia", "cpu"}
    for name, target in (("nvidia", ("cuda", 90, 32)), ("amd", ("hip", "gfx942", 64))):
        assert issubclass(backends[name].driver, DriverBase)
        assert isinstance(make_backend(GPUTarget(*target)), backends[name].compiler)
        assert backends[name].driver.is_active() in (True, False)


def test_what_backends_tell_apart():
    """Plugins ask a backend what of an argument it compiles for."""
    array = np.zeros(64, np.int32)
    aligned = array[(-array.ctypes.data // 4) % 4 :]
    for target in (("cuda", 90, 32), ("hip", "gfx942", 64)):
        backend = make_backend(GPUTarget(*target))
        for align in (True, False):
            known = "D" if align else ""
            assert backend.get_int_specialization(32, align=align) == known
            assert backend.get_int_specialization(33, align=align) == ""
            assert backend.get_tensor_specialization(aligned, align=align) == known
            assert backend.get_tensor_specialization(aligned[1:], align=align) == ""


def test_parameters():
    kernel = tile.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=[0])(scale_kernel.fn)
    params = {p.name: p for p in kernel.params}
    assert [p.num for p in kernel.params] == [0, 1, 2, 3, 4] and kernel.constexprs == [4]
    assert params["n"].do_not_specialize and params["n"].do_not_specialize_on_alignment
    assert params["x_ptr"].do_not_specialize_on_alignment
    assert not params["x_ptr"].do_not_specialize and not params["out_ptr"].do_not_specialize
    assert params["BLOCK"].annotation == "constexpr" and not params["BLOCK"].has_default


def test_source_begins_with_the_definition():
    assert scale_kernel.src.startswith("def scale_kernel(x_ptr")
    assert scale_kernel.raw_src[0].startswith("@tile.jit")
    assert scale_kernel.repr(None) == "scale_kernel"
    assert scale_kernel.get_capture_scope()["tl"] is tl


def test_metadata_is_a_named_tuple():
    metadata = compiled().metadata
    assert metadata.name == "scale_kernel" and metadata.num_warps == 4 and metadata.num_ctas == 1
    assert metadata.cluster_dims == (1, 1, 1) and metadata.global_scratch_size == 0
    assert metadata._asdict()["target"] == GPUTarget("cuda", 90, 32)
    assert type(metadata)(**metadata._asdict()) == metadata


def test_compiled_kernel_survives_pickling_as_inductor_does_it():
    kernel = compiled()
    fn = kernel.src.fn
    saved = fn.fn, fn.__globals__, fn.used_global_vals, fn.repr
    state = {**kernel.__dict__, "module": None, "function": None, "run": None}
    try:
        fn.fn = fn.__globals__ = fn.used_global_vals = fn.repr = fn._hash_lock = None
        text = pickle.dumps(state)
    finally:
        fn.fn, fn.__globals__, fn.used_global_vals, fn.repr = saved
    again = type(kernel).__new__(type(kernel))
    again.__dict__.update(pickle.loads(text))
    assert again.asm["ptx"] == kernel.asm["ptx"] and again.metadata == kernel.metadata
    assert again.src.fn.arg_names == fn.arg_names and again.signature == SIGNATURE


def test_a_function_from_a_worker_is_copied_and_pickled_again():
    """Inductor's parent takes the parts away once more, to keep a copy in its cache."""

    def take_away(fn):
        saved = fn.fn, fn.__globals__, fn.used_global_vals, fn.repr, fn._hash_lock
        fn.fn = fn.__globals__ = fn.used_global_vals = fn.repr = fn._hash_lock = None
        return saved

    worker = tile.jit(scale_kernel.fn)
    source = ASTSource(worker, SIGNATURE, {"BLOCK": 64})
    tile.compile(source, target=GPUTarget("cuda", 90, 32), stop_at="ptx")
    take_away(worker)
    parent = pickle.loads(pickle.dumps(worker))
    parent._hash_lock = threading.RLock()
    assert "scale_kernel" in repr(parent)
    saved = take_away(parent)
    copied = pickle.loads(pickle.dumps(copy.deepcopy(parent)))
    parent.fn, parent.__globals__, parent.used_global_vals, parent.repr, parent._hash_lock = saved
    for fn in (parent, copied):
        assert fn.fn is None and fn.used_global_vals is None and fn.cache_key == worker.cache_key
        assert fn.arg_names == list(SIGNATURE) and [p.num for p in fn.params] == [0, 1, 2, 3, 4]


@sim_only
def test_run_takes_what_other_launchers_pass():
    x, out = random((100,), "fp32"), poisoned(100, "fp32")
    kernel = compiled()
    kernel.run(2, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None,
               x, out, 100, 2.5, 64)  # fmt: skip
    assert np.array_equal(out, x * np.float32(2.5))
    with pytest.raises(tile.TileError, match="`scale_kernel` has 5 parameters, not 4"):
        kernel.run(2, 1, 1, 0, None, None, None, None, None, x, out, 100, 2.5)


@sim_only
def test_hooks_see_launches():
    seen = []
    x, out = random((64,), "fp32"), poisoned(64, "fp32")
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.launch_enter_hook.add(lambda m: seen.append(("in", m.get()["name"])))
        tile.knobs.runtime.launch_exit_hook.add(lambda m: seen.append(("out", m.get()["name"])))
        scale_kernel[(1,)](x, out, 64, 3.0, BLOCK=64)
    assert seen == [("in", "scale_kernel"), ("out", "scale_kernel")]
    assert np.array_equal(out, x * np.float32(3))
    tile.knobs.runtime.launch_enter_hook.calls.clear()
    tile.knobs.runtime.launch_exit_hook.calls.clear()


@sim_only
def test_device_caches_hold_kernels():
    kernel = tile.jit(scale_kernel.fn)
    device = tile.runtime.driver.active.get_current_device()
    kernels, keys, target, _, binder = kernel.device_caches[device]
    assert not kernels and target == tile.runtime.driver.active.get_current_target()
    x, out = random((64,), "fp32"), poisoned(64, "fp32")
    launched = kernel[(1,)](x, out, 64, 3.0, BLOCK=64)
    bound, described, options = binder(x, out, 64, 3.0, BLOCK=64)
    assert list(bound) == kernel.arg_names and options == {}
    key = specialization.compute_cache_key(keys, described, options)
    assert kernels[key] is launched


@tile.jit
def various_kernel(x_ptr, n, pair, value, flag, BLOCK: tl.constexpr, NAME: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at + pair[0], value + n + pair[1], at < n)


@sim_only
@pytest.mark.parametrize("n", [1, 5, 32, -3, 2**30, 2**31 - 16, 2**40, -(2**40), 2**63])
def test_what_is_compiled_ahead_by_hand_is_what_is_launched(n):
    """Autotuners of libraries compile in processes of their own, and launch from the cache."""
    kernel = tile.jit(various_kernel.fn)
    active = tile.runtime.driver.active
    _, _, target, backend, binder = kernel.device_caches[active.get_current_device()]
    x = np.zeros(64, np.float32)
    args, options = (x, n, (8, n), 2.0, True, 32, "a name"), {"num_warps": 2, "debug": False}
    bound, pairs, _ = binder(*args, **options)
    types, known = [p[0] for p in pairs], [p[1] for p in pairs]
    values = list(bound.values())

    def paths(items, wanted, path=()):
        for i, item in enumerate(items):
            if isinstance(item, tuple):
                yield from paths(item, wanted, (*path, i))
            elif wanted(item):
                yield (*path, i)

    def at(items, path):
        for i in path:
            items = items[i]
        return items

    source = kernel.ASTSource(
        kernel,
        dict(zip(kernel.arg_names, types, strict=True)),
        {p: at(values, p) for p in paths(types, lambda t: t == "constexpr")},
        {p: backend.parse_attr(at(known, p)) for p in paths(known, lambda k: isinstance(k, str))},
    )
    ahead = kernel.compile(source, target=target, options=backend.parse_options(options).__dict__)
    assert isinstance(ahead, kernel.CompiledKernel)
    assert ahead.hash == kernel.warmup(*args, grid=(1,), **options).hash


@pytest.mark.parametrize(
    "value, expected",
    [
        (1, ("constexpr", 1)), (16, ("i32", "D")), (7, ("i32", "")), (2**40, ("i64", "D")),
        (True, ("u1", None)), (1.5, ("fp32", None)), (None, ("constexpr", None)),
        ((1, 16, 3.0), (("constexpr", "i32", "fp32"), (1, "D", None))),
    ],
)  # fmt: skip
def test_arguments_are_described_as_known(value, expected):
    assert specialization.native_specialize_impl(None, value, False, True, True) == expected


def test_arguments_that_no_kernel_takes():
    with pytest.raises(TypeError, match="failed to specialize argument of type: str"):
        specialization.native_specialize_impl(None, "text", False, True, True)


def test_walking_the_ir_finds_what_is_stored_to():
    context = tile._C.ir.Context()
    source = ASTSource(scale_kernel, SIGNATURE, {"BLOCK": 64})
    target = GPUTarget("cuda", 90, 32)
    backend = tile.compiler.make_backend(target)
    module = source.make_ir(backend.parse_options({}), context)
    assert module.verify() is True
    names, stored, arguments, order = [], [], {}, []

    def visit(op):
        names.append(op.get_name())
        for i in range(op.get_num_regions()):
            order.append(op.get_region(i).id())
        block = op.get_block()
        if op.get_name() == "tt.store":
            stored.append(op.get_operand(0))
        if block is not None and block.get_parent() is not None and not arguments:
            arguments.update(
                {block.get_argument(i).id(): i for i in range(block.get_num_arguments())}
            )

    module.walk(visit)
    assert names[-1] == "builtin.module" and names.index("tt.store") < names.index("tt.func")
    assert len(stored) == 1 and len(set(arguments.values())) == 4
    pointer = stored[0]
    while pointer.id() not in arguments:
        pointer = pointer.owner.get_operand(0)
    assert arguments[pointer.id()] == 1


class Remembering(Autotuner):
    """What libraries do: hooks, keys and measuring of their own."""

    def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, **kwargs):
        super().__init__(fn, arg_names, configs, key, reset_to_zero, restore_value, **kwargs)
        self.measured = []

    def _bench(self, *args, config, **meta):
        self.measured.append(config.kwargs["BLOCK"])
        return [1.0 / config.kwargs["BLOCK"]] * 3


@sim_only
def test_autotuner_can_be_derived_from():
    configs = [tile.Config({"BLOCK": b}) for b in (32, 64)]
    tuned = Remembering(scale_kernel, scale_kernel.arg_names, configs, ["n"], None, None)
    assert not tuned.user_defined_pre_hook and not tuned.user_defined_post_hook
    assert (tuned.num_warmups, tuned.num_reps, tuned.nargs) == (None, None, None)
    x, out = random((64,), "fp32"), poisoned(64, "fp32")
    tuned[(2,)](x, out, 64, 2.0)
    assert tuned.measured == [32, 64] and tuned.best_config is configs[1]
    assert set(tuned.configs_timings) == set(configs)
    assert tuned.cache == {(64, "float32", "float32"): configs[1]}
    tuned.cache[(64, "float32", "float32")] = configs[0]
    tuned[(2,)](x, out, 64, 2.0)
    assert tuned.best_config is configs[0] and tuned.measured == [32, 64]
    assert np.array_equal(out, x * np.float32(2))


def test_a_kernel_of_a_class_that_is_not_ours():
    """It has a function and `run`, and the share of the best configurations is of those that are
    left."""

    class Kernel:
        def __init__(self):
            self.fn = lambda: None
            self.ran = []

        def run(self, **options):
            self.ran.append(options["BLOCK"])

    def bench(call, quantiles):
        call()
        measured.append(kernel.ran[-1])
        return [float(kernel.ran[-1])] * 3

    kernel, measured, estimated = Kernel(), [], []

    def model(**options):
        estimated.append(options["BLOCK"])
        return options["BLOCK"]

    tuned = Autotuner(
        kernel, [], [tile.Config({"BLOCK": b}) for b in range(1, 11)], [], None, None,
        do_bench=bench,
        prune_configs_by={
            "early_config_prune": lambda configs, named, **options: configs[:6],
            "perf_model": model, "top_k": 0.5,
        },
    )  # fmt: skip
    tuned.run()
    assert estimated == [1, 2, 3, 4, 5, 6] and measured == [1, 2, 3]


@sim_only
def test_measuring_restores_and_resets():
    @tile.jit
    def accumulate(total_ptr, count_ptr, n, BLOCK: tl.constexpr):
        tl.store(total_ptr, tl.load(total_ptr) + BLOCK)
        tl.store(count_ptr, tl.load(count_ptr) + 1)

    def bench(call, quantiles):
        call()
        call()
        return (1.0, 1.0, 1.0)

    tuned = tile.autotune(
        [tile.Config({"BLOCK": 32}), tile.Config({"BLOCK": 64})],
        key=["n"], restore_value=["total_ptr"], reset_to_zero=["count_ptr"], do_bench=bench,
    )(accumulate)  # fmt: skip
    total, count = np.array([5], np.int32), np.array([9], np.int32)
    tuned[(1,)](total, count, 1)
    assert (total[0], count[0]) == (5 + 32, 1)


def test_foreign_builtins_see_constants():
    def next_power(n, *, _builder=None):
        assert isinstance(n, tl.constexpr) and _builder is not None
        return tl.constexpr(1 << (n.value - 1).bit_length())

    next_power.__triton_builtin__ = True
    holder = tile.jit

    @holder
    def kernel(out_ptr, N: tl.constexpr):
        SIZE: tl.constexpr = next_power(N)
        tl.store(out_ptr + tl.arange(0, SIZE), SIZE)

    if tile.knobs.interpreting():
        pytest.skip("the compiler's")
    out = poisoned(16, "i32")
    kernel.simulate(out, N=9, grid=(1,))
    assert out.tolist() == [16] * 16


class Unwilling:
    """A global such as torch's modules of operators: whatever it is asked for, it raises."""

    def __getattr__(self, name):
        raise RuntimeError(f"no member called {name}")


unwilling = Unwilling()


@tile.jit
def beside_unwilling(out_ptr):
    if False:
        unwilling  # noqa: B018
    tl.store(out_ptr, 3)


def test_globals_are_not_asked_what_they_are():
    assert len(beside_unwilling.cache_key) > 20


@sim_only
def test_another_source():
    """As programs do that derive kernels from one another, by their text."""

    def plus(x_ptr, out_ptr, n, value, BLOCK: tl.constexpr = 64):
        pass

    kernel, out = tile.jit(plus), poisoned(100, "fp32")
    x = random((100,), "fp32")
    for operator, expected in (("+", x + 2), ("*", x * 2)):
        kernel._unsafe_update_src(
            f"""
            def plus(x_ptr, out_ptr, n, value, BLOCK: tl.constexpr = 64):
                i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
                x = tl.load(x_ptr + i, mask=i < n)
                tl.store(out_ptr + i, x {operator} value, mask=i < n)
            """
        )
        assert f"x {operator} value" in kernel.src and f"x {operator} value" in kernel.raw_src[3]
        kernel[(2,)](x, out, 100, 2.0)
        assert np.array_equal(out, expected)
    key = kernel.cache_key
    kernel._unsafe_update_src("def plus(x_ptr, out_ptr, n, value, BLOCK):\n    unknown(1)\n")
    assert kernel.cache_key != key
    with pytest.raises(tile.TileError) as caught:
        kernel[(2,)](x, out, 100, 2.0)
    assert "source of plus" in str(caught.value) and "    unknown(1)" in str(caught.value)


@sim_only
def test_preload(monkeypatch, tmp_path):
    """What a hook was told is enough to compile a kernel before it is launched."""
    told = []
    monkeypatch.setattr(
        tile.knobs.runtime, "jit_cache_hook", lambda **told_now: told.append(told_now["compile"])
    )
    x, out = random((64,), "fp32"), poisoned(64, "fp32")

    def make():
        return tile.jit(scale_kernel.fn)

    make()[(1,)](x, out, 64, -0.0, BLOCK=64, num_warps=2)
    (data,) = [compile["specialization_data"] for compile in told]
    again = make()
    kernel = again.preload(data)
    assert kernel.num_warps == 2 and ("ptx" if on_nvidia() else "amdgcn") in kernel.asm

    def refuse(*args, **kwargs):
        raise AssertionError("it is compiled again")

    monkeypatch.setattr("tile.compiler.compile", refuse)
    assert again[(1,)](x, out, 64, -0.0, BLOCK=64, num_warps=2) is kernel
    assert np.array_equal(out, x * np.float32(-0.0))
    with pytest.raises(AssertionError, match="compiled again"):
        again[(1,)](x, out, 64, -0.0, BLOCK=64, num_warps=4)
    with pytest.raises(RuntimeError, match="is for `scale_kernel`, and cannot preload `other`"):
        other_kernel().preload(data)
    again._unsafe_update_src(scale_kernel.src.replace("mask=", "mask = "))
    with pytest.raises(tile.TileError, match="`scale_kernel` is not what it was"):
        again.preload(data)
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    with pytest.raises(
        RuntimeError, match=r"is for {'backend': .*}; kernels are compiled for cuda:80 now"
    ):
        make().preload(data)


@sim_only
def test_preload_of_constants_that_are_no_numbers(monkeypatch):
    """Types, tuples and functions. Hooks are not told about what was preloaded."""
    told = []
    monkeypatch.setattr(
        tile.knobs.runtime, "jit_cache_hook", lambda **told_now: told.append(told_now["compile"])
    )

    @tile.jit
    def get(value):
        return value + 3

    @tile.jit
    def kernel(out, TYPE: tl.constexpr, N: tl.constexpr, GET: tl.constexpr):
        tl.store(out, GET(N[0][0]).to(TYPE))

    constants = (tl.float32, ((2,), None), get)
    kernel.warmup(tl.float32, *constants, grid=(1,))
    (data,) = [compile["specialization_data"] for compile in told]
    again = tile.jit(kernel.fn)
    preloaded = again.preload(data)
    (kernels, *_) = again.device_caches[tile.runtime.driver.active.get_current_device()]
    assert list(kernels.values()) == [preloaded] and list(kernels) == [told[0]["key"]]
    out = np.zeros(1, np.float32)
    assert again[(1,)](out, *constants) is preloaded
    assert out[0] == 5 and len(told) == 1


def test_a_type_stands_for_a_tensor_but_as_a_constant():
    @tile.jit
    def kernel(out, value, TYPE: tl.constexpr):
        tl.static_assert(TYPE == tl.float16)
        tl.store(out, tl.load(value).to(TYPE))

    compiled = kernel.warmup(tl.float16, value=tl.float32, TYPE=tl.float16, grid=(1,))
    assert compiled.src.signature == {"out": "*fp16", "value": "*fp32", "TYPE": "constexpr"}


def other_kernel():
    @tile.jit
    def other(x_ptr):
        pass

    return other


def test_preload_keeps_constants_apart():
    from tile.runtime.preload import _decode, _encode

    for value in (1, True, 1.0, -0.0, float("inf"), None, "1", (1, (2.5, None)), [1], tl.float8e5):
        again = _decode(_encode(value))
        assert repr(again) == repr(value) and type(again) is type(value)
    with pytest.raises(TypeError):
        _encode(object())


def test_stages_hook(monkeypatch):
    """A hook may replace stages; its own key is part of kernels' keys."""
    seen = []

    def hook(backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return ("a hook", 1)
        seen.append((list(stages), options.num_warps, capability))
        before = stages["ttir"]

        def ttir(module, metadata):
            seen.append("ttir")
            return before(module, metadata)

        stages["ttir"] = ttir
        return None

    plain = compiled()
    monkeypatch.setattr(tile.knobs.runtime, "add_stages_inspection_hook", hook)
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    hooked = compiled()
    assert seen == [(["ttir", "ttgir", "llir", "ptx", "cubin"], 4, 90), "ttir"]
    assert hooked.hash != plain.hash and hooked.asm["ptx"] == plain.asm["ptx"]


C_SOURCE = """
#include <Python.h>
static PyObject *twice(PyObject *self, PyObject *number) {
  return PyNumber_Multiply(number, PyLong_FromLong(FACTOR));
}
static PyMethodDef methods[] = {{"twice", twice, METH_O, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "built", 0, -1, methods};
PyMODINIT_FUNC PyInit_built(void) { return PyModule_Create(&module); }
"""


def test_modules_of_c(tmp_path, monkeypatch):
    """A program that brings a launcher of its own has it built."""
    from tile.compat.triton.runtime import build

    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    flags = {"ccflags": ["-DFACTOR=2"]}
    assert build.compile_module_from_src(C_SOURCE, "built", **flags).twice(21) == 42
    first = build.compile_so_from_src(C_SOURCE, "built", **flags)
    assert build.compile_so_from_src(C_SOURCE, "built", **flags) == first
    path = tmp_path / "built.c"
    path.write_text(C_SOURCE)
    other = build.compile_module_from_file(str(path), "built", None, None, None, ["-DFACTOR=3"])
    assert other.twice(21) == 63
    Path(first).unlink()  # It is in use: its bytes must stay.
    Path(first).write_bytes(b"no library")
    assert build.compile_module_from_src(C_SOURCE, "built", **flags).twice(4) == 8
    with pytest.raises(tile.errors.CompilerToolError, match="cannot build broken"):
        build.compile_so_from_src("int f( {", "broken")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(tile.errors.CompilerToolError, match="there is no compiler"):
        build.compile_so_from_src("int g;", "none")


def test_classes_of_hooks_and_listeners(tmp_path, monkeypatch):
    from tile import compat

    compat.install()  # Other tests turn it off.
    from tile.compat.additions import knobs as names

    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))

    class Listener(names.CompilationListener):
        told = None

        def __call__(self, **facts):
            self.told = facts

    class Load(names.InitHandleHook):
        calls = 0

        def __call__(self, module, function, name, metadata_group, hash):
            self.calls += 1

    listener, load = Listener(), Load()
    with tile.knobs.compilation.scope(), tile.knobs.runtime.scope():
        tile.knobs.compilation.listener = listener
        tile.knobs.runtime.kernel_load_end_hook = load
        x = np.zeros(8, np.float32)
        scale_kernel[(1,)](x, x, 8, 2.0, 8)
    assert isinstance(listener.told["times"], names.CompileTimes) and load.calls == 1
    assert isinstance(listener.told["metadata"]["target"], GPUTarget)


def test_kernels_are_forgotten():
    """The next launch finds the kernel in the files, and listeners are told."""
    told = []
    x = np.zeros(8, np.float32)
    with tile.knobs.compilation.scope():
        tile.knobs.compilation.listener = lambda **facts: told.append(facts["cache_hit"])
        scale_kernel.device_caches.clear()
        scale_kernel[(1,)](x, x, 8, 3.0, 8)
        assert len(told) == 1
        told.clear()
        scale_kernel[(1,)](x, x, 8, 3.0, 8)
        assert told == []
        scale_kernel.device_caches.clear()
        scale_kernel[(1,)](x, x, 8, 3.0, 8)
        assert told == [True]
        scale_kernel[(1,)](x, x, 8, 3.0, 8)
        assert told == [True]


def test_modules_are_made_with_the_arguments_of_releases():
    backend = make_backend(GPUTarget("cuda", 90, 32))
    source = ASTSource(scale_kernel, SIGNATURE, {"BLOCK": 64})
    options = backend.parse_options({})
    alone = source.make_ir(options, tile._C.ir.Context())
    given = source.make_ir(GPUTarget("cuda", 90, 32), options, {}, {}, tile._C.ir.Context())
    assert str(alone) == str(given)


@tile.constexpr_function
def twice(n):
    return n * 2


@tile.constexpr_function
def thrice(n):
    return n * 3


def test_hashes_can_be_computed_again():
    was = scale_kernel.hash
    scale_kernel.hash = None
    assert scale_kernel.hash == was == scale_kernel.cache_key
    with pytest.raises(tile.TileError, match="computed, and not set"):
        scale_kernel.hash = "another"
    assert twice.cache_key != thrice.cache_key


def test_tools_are_files_too():
    """Programs run them by their paths."""
    import subprocess
    import sys
    from pathlib import Path

    for name in ("compile", "link"):
        path = Path(tile.tools.__path__[0], f"{name}.py")
        done = subprocess.run([sys.executable, path, "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and f"tile {name}" in done.stdout


def test_options_that_are_dictionaries():
    x = random((64,), "fp32")
    with pytest.raises(tile.TileError, match="no such option exists"):
        scale_kernel[(1,)](x, x, 64, 1.0, 64, some_libraries={"name": "/path"})


def test_what_is_known_of_numbers_has_the_letters_of_triton():
    from tile.compat.triton._C.libtriton import native_specialize_impl

    for value, known in ((-1, ""), (-16, "D"), (24, ""), (2**31, "D"), (2**31 - 1, ""), (17, "")):
        assert native_specialize_impl(None, value, False, True, True)[1] == known
    assert native_specialize_impl(None, (1, 3), False, True, True) == (
        ("constexpr", "i32"), (1, ""),
    )  # fmt: skip


def test_folders_with_headers(tmp_path, monkeypatch):
    from tile.compat.triton.backends.nvidia import driver

    (tmp_path / "include").mkdir()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert str(tmp_path / "include") not in driver.include_dirs
    (tmp_path / "include" / "cuda.h").touch()
    assert driver.include_dirs[0] == str(tmp_path / "include")


@tile.jit
def between(x_ptr, N: tl.constexpr, out_ptr, scale, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < N, other=0) * scale, mask=i < N)


@pytest.mark.parametrize("n", [5, 64])
def test_a_compiled_kernel_takes_its_arguments_without_the_constants(n):
    """As FlagGems launches what it has compiled, where Triton is newer than 3.6."""
    x, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    kernel = between[(1,)](x, n, out, 7, BLOCK=64)
    other = np.full(64, -1, np.int32)
    kernel[(1, 1, 1)](x, other, 7)
    np.testing.assert_array_equal(other[:n], x[:n] * 7)
    assert (other[n:] == -1).all()
    kernel[(1, 1, 1)](x, n, out, 7, 64)
    np.testing.assert_array_equal(out[:n], x[:n] * 7)
    for wrong in ((x, other), (x, n, other, 7)):
        with pytest.raises(tile.TileError, match="missing"):
            kernel[(1, 1, 1)](*wrong)
