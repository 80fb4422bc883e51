"""Compilation in stages, and what comes out of it."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import _C, knobs
from ..backends import GPUTarget, find_backend
from ..errors import TileError
from .errors import from_diagnostics
from .signature import attribute_hints, normalize_constants, structure_of


@functools.lru_cache(maxsize=1)
def compiler_key() -> str:
    """Identifies this build of the compiler in cache keys."""
    hasher = hashlib.sha256()
    package = Path(__file__).resolve().parents[1]
    native = Path(_C.__file__)
    stat = native.stat()
    hasher.update(f"{stat.st_size}:{stat.st_mtime_ns}".encode())
    # The Python half decides about the IR too.
    for folder in ("compiler", "language", "backends"):
        for path in sorted((package / folder).rglob("*.py")):
            stat = path.stat()
            hasher.update(f"{path.name}:{stat.st_size}:{stat.st_mtime_ns}".encode())
    return hasher.hexdigest()


def make_backend(target: GPUTarget) -> Any:
    """The backend that compiles for a target."""
    return find_backend(target)


class ASTSource:
    """A kernel in Python, and the arguments it is compiled for."""

    ext = "ttir"

    def __init__(
        self,
        fn: Any,
        signature: Mapping[str, Any],
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Any] | None = None,
    ) -> None:
        if not getattr(fn, "__tile_jit__", False):
            raise TileError(f"ASTSource takes a function decorated with @tile.jit, not {fn!r}")
        self.fn = fn
        self.name = fn.__name__
        names = fn.arg_names
        unknown = [n for n in signature if isinstance(n, str) and n not in names]
        if unknown:
            raise TileError(
                f"the signature names `{unknown[0]}`, which is not a parameter of `{self.name}`"
            )
        self.signature = {names[k] if isinstance(k, int) else k: v for k, v in signature.items()}
        self.constants = normalize_constants(dict(constexprs or {}), names)
        self.attrs = attribute_hints(dict(attrs or {}), names)

    def hash(self) -> str:
        parts = [
            self.fn.cache_key,
            repr(sorted((k, str(v)) for k, v in self.signature.items())),
            repr(sorted((k, _constant_key(v)) for k, v in self.constants.items())),
            repr(sorted(self.attrs.items())),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def make_ir(self, options: Any, context: Any) -> Any:
        from .code_generator import CodeGenerator

        arguments = {}
        for i, name in enumerate(self.fn.arg_names):
            spec = self.signature.get(name)
            path = (i,)
            if path in self.constants and not isinstance(spec, (tuple, list)):
                arguments[name] = structure_of("constexpr", self.constants[path])
            elif spec is None:
                raise TileError(f"the signature of `{self.name}` lacks the parameter `{name}`")
            else:
                arguments[name] = structure_of(spec, self._nested_constants(path, spec))
        generator = CodeGenerator(context, options)
        return generator.kernel(self.fn, self.kernel_name(arguments), arguments, self.attrs)

    def _nested_constants(self, path: tuple[int, ...], spec: Any) -> Any:
        if not isinstance(spec, (tuple, list)):
            return self.constants.get(path)
        return [self._nested_constants((*path, i), s) for i, s in enumerate(spec)]

    def kernel_name(self, arguments: Any) -> str:
        if self.fn._repr is None:
            return self.name
        specialization = _Specialization(self.signature, self.constants, self.fn)
        return re.sub(r"\W", "_", self.fn.repr(specialization))

    def parse_options(self) -> dict:
        return {}


class _Specialization:
    """What a user's `repr` function may look at."""

    def __init__(self, signature: dict, constants: dict, fn: Any) -> None:
        self.signature = signature
        self.constants = {fn.arg_names[k[0]]: v for k, v in constants.items() if len(k) == 1}
        self.name = fn.__name__


def _constant_key(value: Any) -> str:
    key = getattr(value, "cache_key", None)
    if isinstance(key, str):
        return key
    return f"{type(value).__name__}:{value!r}"


class IRSource:
    """IR in a file: the compile starts at its stage."""

    def __init__(self, path: str | os.PathLike, context: Any = None, backend: Any = None) -> None:
        self.path = Path(path)
        self.ext = self.path.suffix[1:]
        try:
            self.src = self.path.read_text()
        except OSError as error:
            raise TileError(f"cannot read {self.path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise TileError(f"{self.path} is not text") from None
        patterns = {
            "ttir": r"tt\.func\s+public\s+@\"?(\w+)",
            "ttgir": r"tt\.func\s+public\s+@\"?(\w+)",
            "llir": r"define\s+(?:[\w()]+\s+)*ptx_kernel\s+void\s+@\"?([\w$.]+)",
            "ptx": r"\.(?:visible|extern)\s+\.entry\s+([\w$]+)",
        }
        if self.ext not in patterns:
            raise TileError(f"{self.path.name}: a compile starts from .ttir, .ttgir, .llir or .ptx")
        found = re.search(patterns[self.ext], self.src)
        if found is None:
            raise TileError(f"{self.path.name} contains no kernel")
        self.name = found.group(1)

    def hash(self) -> str:
        return hashlib.sha256(self.src.encode()).hexdigest()

    def make_ir(self, options: Any, context: Any) -> Any:
        if self.ext in ("ttir", "ttgir"):
            try:
                module = _C.ir.Module.parse(self.src, context, str(self.path))
                module.verify()
            except _C.ir.MLIRError as error:
                raise from_diagnostics(error) from None
            return module
        return self.src

    def parse_options(self) -> dict:
        if self.ext != "ttgir":
            return {}
        options = {}
        for key, name in (("num_warps", "num-warps"), ("num_ctas", "num-ctas")):
            found = re.search(rf'"ttg\.{name}"\s*=\s*(\d+)', self.src)
            if found:
                options[key] = int(found.group(1))
        return options


class LazyDict(Mapping):
    """``kernel.asm``: stages by name; read from the cache when asked for."""

    def __init__(self, items: dict[str, Any]) -> None:
        self._items = items

    def add(self, name: str, make: Any) -> None:
        """Adds a stage that `make` makes when it is asked for."""
        self._items[name] = make

    def __getitem__(self, name: str) -> Any:
        value = self._items[name]
        if callable(value):
            value = self._items[name] = value()
        if isinstance(value, Path):
            raw = value.read_bytes()
            value = self._items[name] = raw if name in BINARY_STAGES else raw.decode()
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


BINARY_STAGES = {"cubin", "hsaco"}


class CompiledKernel:
    """A kernel in all its stages, ready to be loaded by a driver."""

    def __init__(self, name: str, metadata: dict[str, Any], asm: dict[str, Any], hash: str) -> None:
        self.name = name
        self.hash = hash
        self._metadata = metadata
        self.asm = LazyDict(asm)
        #: What the driver made of it, per device.
        self.loaded: dict[Any, Any] = {}

    @property
    def metadata(self) -> Any:
        return _Namespace(self._metadata)

    @property
    def num_warps(self) -> int:
        return self._metadata.get("num_warps", 4)

    @property
    def shared(self) -> int:
        return self._metadata.get("shared", 0)

    @property
    def kernel(self) -> Any:
        return self.asm.get("cubin", self.asm.get("ptx"))

    @property
    def n_regs(self) -> int | None:
        """Registers of a thread, as ptxas counts them; None without ptxas."""
        return self._resource("n_regs")

    @property
    def n_spills(self) -> int | None:
        """Registers of a thread that live in memory for a while."""
        return self._resource("n_spills")

    def _resource(self, name: str) -> int | None:
        if name not in self._metadata and "cubin" in self.asm:
            self.asm["cubin"]  # ptxas, which knows, runs now if it has not.
        return self._metadata.get(name)

    def _init_handles(self) -> None:
        """Nothing to do: the driver loads a kernel when it is launched."""

    def __getitem__(self, grid: Any) -> Any:
        """``kernel[grid](...)`` launches this very kernel; the arguments are
        those of all its parameters, constants included."""
        from ..runtime.launcher import launch_compiled

        return functools.partial(launch_compiled, self, grid)

    def __repr__(self) -> str:
        return f"CompiledKernel({self.name}, stages: {', '.join(self.asm)})"


class _Namespace:
    """Metadata by attribute."""

    def __init__(self, items: dict[str, Any]) -> None:
        self.__dict__.update(items)

    def __repr__(self) -> str:
        return f"metadata({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"

    def _asdict(self) -> dict[str, Any]:
        return dict(self.__dict__)


def compile(
    src: Any,
    target: GPUTarget | None = None,
    options: dict[str, Any] | None = None,
    _env_vars: dict[str, str] | None = None,
    *,
    stop_at: str | None = None,
    lazy_after: str | None = None,
) -> CompiledKernel:
    """Compiles an `ASTSource`, or the IR in a file (given by its path).

    `stop_at` names the last stage to run; by default all that the machine has
    the tools for are run. Stages after `lazy_after` are made when ``asm`` is
    asked for them.
    """
    if target is None:
        from ..runtime.driver import driver

        target = driver.active.get_current_target()
    backend = make_backend(target)
    if isinstance(src, (str, os.PathLike)):
        src = IRSource(src)
    merged = {**src.parse_options(), **(options or {})}
    parsed = backend.parse_options(merged)
    key = hashlib.sha256(
        "\0".join(
            [compiler_key(), src.hash(), backend.hash(), parsed.hash(), str(stop_at)]
        ).encode()
    ).hexdigest()

    from ..runtime.cache import open_cache

    entry = open_cache(key)
    if not knobs.compilation.always_compile:
        found = entry.load()
        if found is not None:
            kernel = CompiledKernel(found[0]["name"], found[0], found[1], key)
            return _with_lazy_stages(kernel, backend, parsed, lazy_after, stop_at)

    stages = backend.stages(parsed)
    order = list(stages)
    last = stop_at
    if last is None and lazy_after is not None and order.index(lazy_after) > order.index(src.ext):
        last = lazy_after
    if stop_at is not None and stop_at not in order:
        raise TileError(f"there is no stage {stop_at!r}; the stages are {', '.join(order)}")
    if src.ext not in order:
        raise TileError(f"{target} has no stage {src.ext!r}; the stages are {', '.join(order)}")
    first = order.index(src.ext)
    if not isinstance(src, ASTSource):
        first += 1  # The file already is what this stage makes.

    context = _C.ir.Context()
    metadata: dict[str, Any] = {
        "name": src.name,
        "target": {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size},
        **parsed.as_dict(),
    }
    try:
        ir = src.make_ir(parsed, context)
    except TileError as error:
        if knobs.compilation.front_end_debugging:
            raise
        # The message has the place in the user's code; our stack is noise.
        raise error.with_traceback(None) from error.__cause__
    asm: dict[str, Any] = {}
    if not isinstance(src, ASTSource):
        asm[src.ext] = src.src
    for stage in order[first:]:
        try:
            ir = stages[stage](ir, metadata)
        except _C.ir.MLIRError as error:
            raise from_diagnostics(error, f"while making the {stage} of `{src.name}`") from None
        if ir is None:  # The machine lacks the tool; what there is will do.
            break
        asm[stage] = _text(ir)
        if knobs.compilation.dump_ir:
            _dump(key, src.name, stage, asm[stage])
        override = _override(src.name, stage) if knobs.compilation.override else None
        if override is not None:
            asm[stage] = override
            ir = _reparse(override, stage, context)
        if stage == last:
            break
    metadata["hash"] = key
    entry.store(metadata, asm)
    kernel = CompiledKernel(metadata["name"], metadata, asm, key)
    return _with_lazy_stages(kernel, backend, parsed, lazy_after, stop_at)


def _with_lazy_stages(
    kernel: CompiledKernel, backend: Any, options: Any, lazy_after: str | None, stop_at: str | None
) -> CompiledKernel:
    """Adds the stages after the last one that was run, to be made on demand."""
    stages = backend.stages(options)
    if lazy_after is None or stop_at is not None or lazy_after not in kernel.asm:
        return kernel
    before = lazy_after
    for stage in list(stages)[list(stages).index(lazy_after) + 1 :]:
        if stage not in kernel.asm and backend.has_tools_for(stage):
            kernel.asm.add(stage, functools.partial(_late, kernel, stages[stage], before))
        before = stage
    return kernel


def _late(kernel: CompiledKernel, stage: Any, before: str) -> Any:
    return stage(kernel.asm[before], kernel._metadata)


def _text(ir: Any) -> Any:
    if isinstance(ir, (str, bytes)):
        return ir
    return ir.str(enable_debug_info=True, use_name_loc_as_prefix=True)


def _reparse(text: Any, stage: str, context: Any) -> Any:
    if stage in ("ttir", "ttgir"):
        try:
            return _C.ir.Module.parse(text, context, f"<override of {stage}>")
        except _C.ir.MLIRError as error:
            raise from_diagnostics(error) from None
    return text


def _dump(key: str, name: str, stage: str, content: Any) -> None:
    folder = Path(knobs.cache.dump_dir) / key[:16]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.{stage}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _override(name: str, stage: str) -> Any:
    path = Path(knobs.cache.override_dir) / f"{name}.{stage}"
    if not path.is_file():
        return None
    return path.read_bytes() if stage in BINARY_STAGES else path.read_text()
