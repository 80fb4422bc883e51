"""Triton's module tree, name for name, as its packages show it from outside."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types
from pathlib import Path

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


#: The packages and modules whose names are Triton's public interface.
PUBLIC = [
    "triton", "triton.language", "triton.language.math", "triton.runtime", "triton.compiler",
    "triton.testing", "triton.tools", "triton.tools.tensor_descriptor", "triton.knobs",
    "triton.errors", "triton.runtime.errors", "triton.runtime.cache", "triton.runtime.autotuner",
    "triton.runtime.driver", "triton.runtime.build", "triton.compiler.errors",
]  # fmt: skip
#: Of these, what only Triton's own knobs are made of.
INNER = {
    "triton.knobs": {
        "FP_FUSION_DEFAULT_WARNING", "env_base", "env_class", "env_nvidia_tool",
        "env_str_callable_default",
    }
}  # fmt: skip


def test_no_public_name_is_missing(release):
    missing = {}
    for path in PUBLIC:
        module = importlib.import_module(path)
        names = [n for n in release.names(path) if isinstance(getattr(module, n), Unbuilt)]
        missing[path] = set(names) - INNER.get(path, set())
    assert not any(missing.values()), missing


def test_modules_are_modules(release):
    import triton.runtime.jit as jit

    assert isinstance(jit, types.ModuleType)
    import triton

    assert isinstance(triton.backends.compiler, types.ModuleType)
    assert isinstance(triton.language.extra.cuda.libdevice, types.ModuleType)
    # Importing the module does not hide what the package calls the same.
    import triton.runtime.driver

    assert triton.runtime.driver.active is tile.runtime.driver.active


PACKAGE = """
import importlib, sys
from tile import compat

compat.install()
path, *modules = sys.argv[1:]
package = importlib.import_module(path)
for name in modules:
    importlib.import_module(name)
assert importlib.import_module(path) is package
parent, _, name = path.rpartition(".")
assert getattr(sys.modules[parent], name) is package, getattr(sys.modules[parent], name)
"""


@pytest.mark.parametrize("path", ["triton.tools", "triton.runtime", "triton.language.extra"])
def test_packages_stay_what_they_are(path):
    """Importing a module of the compatibility folder replaced the package above it, if that was
    the first of the folder: so each package needs a process of its own."""
    folder = Path(compat.__file__).parent / "triton" / Path(*path.split(".")[1:])
    modules = sorted(f"{path}.{file.stem}" for file in folder.glob("[!_]*"))
    assert modules
    done = subprocess.run(
        [sys.executable, "-c", PACKAGE, path, *modules], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


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


def test_modules_say_what_they_do_not_have(release):
    """Also under the name that Triton gives them: what they say themselves was lost."""
    import triton._C.libtriton.llvm as llvm

    with pytest.raises(AttributeError, match=r"llvm.to_module is not built in tile yet"):
        llvm.to_module  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        import triton

        triton.nothing  # noqa: B018


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
