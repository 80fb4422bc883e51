"""Kernel files of inference engines, imported without the engines.

The packages' own ``__init__`` start an engine's configuration, and need libraries for serving and a
compiled extension. Here a package is its folder, in which modules are imported as they are. The
libraries for serving, which kernels do not use, are stood in for where they are not installed.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Of those that serve: configuration, logging, networks, tokenizers.
SERVING = {
    "aiohttp", "blake3", "cachetools", "cbor2", "cloudpickle", "cpuinfo", "dill", "einops",
    "fastapi", "gguf", "huggingface_hub", "IPython", "jinja2", "msgspec", "openai",
    "openai_harmony", "opentelemetry", "orjson", "partial_json_parser", "PIL",
    "prometheus_client", "psutil", "py_spy", "pybase64", "pydantic", "pydantic_core", "pynvml",
    "ray", "regex", "requests", "safetensors", "setproctitle", "starlette", "tiktoken",
    "tokenizers", "torchvision", "tqdm", "transformers", "urllib3", "uvicorn", "uvloop",
    "watchfiles", "xgrammar", "yaml", "zmq",
}  # fmt: skip


class _Base:
    """What derives from a stand-in derives from this, whatever it passes or subscripts."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__()

    def __class_getitem__(cls, key: Any) -> Any:
        return cls

    def __init__(self, *args: Any, **fields: Any) -> None:
        names = list(getattr(type(self), "__annotations__", {}))
        self.__dict__.update(zip(names, args, strict=False), **fields)


class _Anything:
    """Any attribute of it is one; it decorates, subscripts, combines, and is derived from."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]  # As a decorator.
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __or__

    def __iter__(self) -> Any:
        return iter(())

    def __mro_entries__(self, bases: tuple) -> tuple:
        return () if _Base in bases else (_Base,)


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        value = "0.0.0" if name == "__version__" else _Anything()
        setattr(self, name, value)
        return value


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules of `SERVING` after all others have not."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        top = name.split(".")[0]
        if top not in SERVING or not (name == top or isinstance(sys.modules.get(top), _Module)):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def prepare(package: str) -> None:
    """Makes modules of `package` importable; raises where it is not installed."""
    found = importlib.machinery.PathFinder.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    shell(package, Path(found.origin).parent)
    if not any(isinstance(finder, _StandIns) for finder in sys.meta_path):
        sys.meta_path.append(_StandIns())


def stand_in(name: str, **values: Any) -> None:
    """Stands in for a module of the engine itself, which kernels import and do not need."""
    module = _Module(name)
    module.__dict__.update(values)
    sys.modules[name] = module


def shell(package: str, folder: Path) -> types.ModuleType:
    """Makes a package of a folder whose ``__init__`` is not run."""
    module = types.ModuleType(package)
    module.__path__ = [str(folder)]
    module.__spec__ = importlib.machinery.ModuleSpec(package, None, is_package=True)
    module.__spec__.submodule_search_locations = module.__path__
    sys.modules[package] = module
    parent, _, name = package.rpartition(".")
    if parent:
        setattr(sys.modules[parent], name, module)
    return module
