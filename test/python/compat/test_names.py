"""Triton's module tree, name for name, as its packages show it from outside."""

from __future__ import annotations

import importlib
import types

import pytest

import tile
from tile import compat
from tile.compat.release import Release
from tile.compat.unbuilt import Unbuilt, UnbuiltError


@pytest.fixture(params=["3.6.0", "3.9.0"])
def release(request, monkeypatch):
    compat.uninstall()
    monkeypatch.setenv("TILE_COMPAT_VERSION", request.param)
    compat.install()
    yield Release.at_most(request.param)
    compat.uninstall()


def test_every_module_and_name(release):
    wrong = []
    assert len(release.modules()) > 100
    for path in release.modules():
        module = importlib.import_module(path)
        for name, home in release.names(path).items():
            value = getattr(module, name)
            if home.startswith("@@") and not isinstance(value, (types.ModuleType, Unbuilt)):
                wrong.append(f"{path}.{name} is no module but {value!r}")
    assert not wrong, "\n".join(wrong)


#: What has to work, not only to be there.
BUILT = """
triton.runtime.jit:JITFunction KernelParam compute_cache_key native_specialize_impl mangle_type
triton.runtime.autotuner:Autotuner Config Heuristics OutOfResources PTXASError autotune heuristics
triton.runtime.cache:triton_key _base32
triton.compiler.compiler:ASTSource CompiledKernel IRSource LazyDict compile make_backend
triton.compiler.errors:CompilationError
triton.backends.compiler:BaseBackend GPUTarget
triton.backends:backends Backend
triton.language.core:CONSTEXPR_0 get_int_dtype _unwrap_if_constexpr builtin extern is_builtin
triton.language.extra.libdevice:tanh
triton.language.extra.cuda.libdevice:tanh rsqrt
triton.language.extra.hip.libdevice:tanh rsqrt
triton.language.extra.cuda:gdc_wait
triton.language.target_info:is_cuda is_hip cuda_capability_geq
triton.tools.tensor_descriptor:TensorDescriptor
triton.testing:do_bench get_dram_gbps
triton._utils:find_paths_if get_iterable_path
triton._C.libtriton.ir:context load_dialects
triton.backends.nvidia.driver:libcuda_dirs make_tensordesc_arg
triton.runtime.interpreter:InterpretedFunction
"""


def test_what_libraries_stand_on_is_built(release):
    for line in BUILT.split("\n")[1:-1]:
        path, _, names = line.partition(":")
        module = importlib.import_module(path)
        for name in names.split():
            assert not isinstance(getattr(module, name), Unbuilt), f"{path}.{name}"


def test_modules_are_modules(release):
    import triton.runtime.jit as jit

    assert isinstance(jit, types.ModuleType)
    import triton

    assert isinstance(triton.backends.compiler, types.ModuleType)
    assert isinstance(triton.language.extra.cuda.libdevice, types.ModuleType)
    # Importing the module does not hide what the package calls the same.
    import triton.runtime.driver

    assert triton.runtime.driver.active is tile.runtime.driver.active


def test_modules_are_ours(release):
    import triton

    assert triton.language is tile.language
    assert triton.runtime.jit.JITFunction is tile.JITFunction
    assert triton.jit is tile.jit


def test_attrs_descriptor_is_absent(release):
    for path in ("triton.backends.compiler", "triton.compiler.compiler"):
        assert not hasattr(importlib.import_module(path), "AttrsDescriptor")


def test_names_of_later_releases_are_absent(monkeypatch):
    monkeypatch.setenv("TILE_COMPAT_VERSION", "3.6.0")
    compat.install()
    import triton.language.core as core

    assert "warn_once" in Release.at_most("3.9").names("triton.language.core")
    assert not hasattr(core, "warn_once")
    with pytest.raises(ImportError):
        import triton.experimental.gsan  # noqa: F401


def test_unbuilt_names_say_so_when_used():
    compat.install()
    from triton.language.semantic import TritonSemantic as Semantic

    assert not isinstance(3, Semantic) and repr(Semantic | None)
    with pytest.raises(UnbuiltError, match="TritonSemantic is not built in tile"):
        Semantic(1)
    with pytest.raises(AttributeError, match=r"TritonSemantic\.get is not built"):
        print(Semantic.get)

    class Derived(Semantic):
        pass

    with pytest.raises(UnbuiltError):
        Derived()


def test_what_programs_set_on_modules_is_set(release):
    import triton.testing

    kept = tile.testing.do_bench
    try:
        triton.testing.do_bench = len
        assert tile.testing.do_bench is len
    finally:
        triton.testing.do_bench = kept


def test_uninstall_takes_back_what_imports_made(monkeypatch):
    """A module made of a release's names was left as an attribute of tile's module above it."""
    from tile.experimental.gluon import language

    compat.uninstall()
    monkeypatch.setenv("TILE_COMPAT_VERSION", "3.9.0")
    compat.install()
    importlib.import_module("triton.experimental.gluon.language.amd.warp_pipeline")
    assert "warp_pipeline" in vars(language.amd)
    importlib.import_module("triton.experimental.gluon.language.amd.slice")
    compat.uninstall()
    assert "warp_pipeline" not in vars(language.amd)
    # The function came back, whose name the release has for a module.
    assert callable(vars(language.amd)["slice"])
