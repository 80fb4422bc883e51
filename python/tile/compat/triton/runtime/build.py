"""Building extension modules from C, for programs that bring their own: launches need none."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from tile import knobs
from tile.errors import CompilerToolError
from tile.runtime.cache import get_cache_manager

_Paths = Sequence[str] | None


def platform_key() -> str:
    """What a library that is built depends on, besides its source."""
    return ",".join([platform.machine(), platform.system(), *platform.architecture()])


def _compiler() -> str:
    compiler = knobs.build.cc or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise CompilerToolError("a module of C is to be built, and there is no compiler; set CC")
    return str(compiler)


def compile_so_from_src(
    src: str,
    name: str,
    library_dirs: _Paths = None,
    include_dirs: _Paths = None,
    libraries: _Paths = None,
    ccflags: _Paths = None,
    again: bool = False,
) -> str:
    """The path of the shared library of a C source; built once, or with `again`, now."""
    impl = knobs.build.impl
    compiler = _compiler() if impl is None else f"{impl.__module__}.{impl.__qualname__}"
    command = [
        compiler, "-O3", "-shared", "-fPIC", "-Wno-psabi",
        f"-I{sysconfig.get_paths()['include']}", *(f"-I{path}" for path in include_dirs or ()),
    ]  # fmt: skip
    after = [*(f"-L{path}" for path in library_dirs or ()), *(f"-l{n}" for n in libraries or ())]
    after += ccflags or ()
    parts = [src, name, platform_key(), *command, *after]
    cache = get_cache_manager(hashlib.sha256("\0".join(parts).encode()).hexdigest())
    filename = name + str(sysconfig.get_config_var("EXT_SUFFIX"))
    found = None if again else cache.get_file(filename)
    if found is not None:
        return found
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, f"{name}.c"), os.path.join(folder, filename)
        Path(source).write_text(src, encoding="utf-8")
        if impl is not None:
            lists = [list(paths or ()) for paths in (library_dirs, include_dirs, libraries)]
            return cache.put(Path(impl(name, source, folder, *lists)).read_bytes(), filename)
        done = subprocess.run(
            [*command, source, "-o", target, *after], capture_output=True, text=True
        )
        if done.returncode:
            raise CompilerToolError(f"`{command[0]}` cannot build {name}:\n{done.stderr}")
        return cache.put(Path(target).read_bytes(), filename)


def compile_so_from_file(path: str, name: str, *more: _Paths, **options: _Paths) -> str:
    """The same of a file."""
    return compile_so_from_src(Path(path).read_text(encoding="utf-8"), name, *more, **options)


def _import(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CompilerToolError(f"{name} is no extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_module_from_src(src: str, name: str, *more: _Paths, **options: _Paths) -> ModuleType:
    """The extension module of a C source, built once; options as `compile_so_from_src` has."""
    try:
        return _import(name, compile_so_from_src(src, name, *more, **options))
    except ImportError:  # The file in the cache is damaged, or of another Python.
        return _import(name, compile_so_from_src(src, name, *more, **options, again=True))


def compile_module_from_file(path: str, name: str, *more: _Paths, **options: _Paths) -> ModuleType:
    """The same of a file."""
    text = Path(path).read_text(encoding="utf-8")
    return compile_module_from_src(text, name, *more, **options)
