"""Compilation in stages, and what comes out of it."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _C, knobs
from ..backends import (
    GPUTarget,
    Stage,
    all_stages,
    check_target,
    chosen_target,
    find_backend,
    simulated_target,
)
from ..backends.stages import WITH_WARPS, last_text
from ..errors import TileError
from ..hints import closest
from ..runtime.cache.entry import CachedFile, CacheEntry, Damaged
from ..runtime.dependencies import constant_key
from ..runtime.depth import deep_stack
from ..tracebacks import entry_point
from .errors import from_diagnostics
from .signature import (
    attribute_hints,
    normalize_constants,
    normalize_signature,
    structure_of,
)
from .text_signature import signature_of, words_of_signature


def make_backend(target: GPUTarget) -> Any:
    """The backend that compiles for a target."""
    return find_backend(target)


class ASTSource:
    """A kernel in Python, and the arguments it is compiled for."""

    @property
    def ext(self) -> str:
        """The stage that comes of it."""
        return "glir" if self.fn.is_gluon() else "ttir"

    def __init__(
        self,
        fn: Any,
        signature: Mapping[Any, Any] | str,
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Any] | None = None,
        *,
        constants: Mapping[Any, Any] | None = None,
    ) -> None:
        """`constants` is `constexprs`, as older releases call it. Parameters may be named by
        position, also with a text of types for those that are no constants: ``"*fp32, i32"``."""
        if not getattr(fn, "__tile_jit__", False):
            raise TileError(f"ASTSource takes a function decorated with @tile.jit, not {fn!r}")
        if constants and constexprs:
            raise TileError("constexprs and constants are two names of one argument")
        self.fn = fn
        self.name = fn.__name__
        names = fn.arg_names
        self.constants = normalize_constants(dict(constexprs or constants or {}), names)
        self.signature = normalize_signature(signature, self.constants, self.name, names)
        self.attrs = dict(attrs or {})
        self.hints = attribute_hints(self.attrs, names, self.constants)

    def hash(self) -> str:
        parts = [
            self.fn.cache_key,
            repr(sorted((k, str(v)) for k, v in self.signature.items())),
            repr(sorted((k, constant_key(v)) for k, v in self.constants.items())),
            repr(sorted(self.hints.items())),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def make_ir(
        self, target: Any, options: Any, codegen_fns: Any = None, module_map: Any = None,
        context: Any = None,
    ) -> Any:  # fmt: skip
        """The module of the front end. Only the options and the context matter, and may be given
        alone, as `make_ir(options, context)`."""
        if context is None:
            options, context = target, options
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
        generator = self.make_generator(context, options)
        with deep_stack():
            return generator.kernel(self.fn, self.kernel_name(arguments), arguments, self.hints)

    def make_generator(self, context: Any, options: Any) -> Any:
        """What generates the module."""
        from .code_generator import CodeGenerator

        return CodeGenerator(context, options, _builder_class(self.fn))

    def _nested_constants(self, path: tuple[int, ...], spec: Any) -> Any:
        if not isinstance(spec, (tuple, list)):
            return self.constants.get(path)
        return [self._nested_constants((*path, i), s) for i, s in enumerate(spec)]

    def kernel_name(self, arguments: Any) -> str:
        from .frames import symbol_name

        specialization = _Specialization(self.signature, self.constants, self.fn)
        return symbol_name(self.fn.repr(specialization))

    def parse_options(self) -> dict:
        return {}


def _builder_class(fn: Any) -> Any:
    """What creates the operations of a function."""
    if fn.is_gluon():
        from ..experimental.gluon.language._semantic import GluonBuilder

        return GluonBuilder
    from .builder import IRBuilder

    return IRBuilder


class _Specialization:
    """What a user's `repr` function may look at."""

    def __init__(self, signature: dict, constants: dict, fn: Any) -> None:
        self.signature = signature
        self.constants = {fn.arg_names[k[0]]: v for k, v in constants.items() if len(k) == 1}
        self.name = fn.__name__


class IRSource:
    """IR in a file: the compile starts at its stage."""

    def __init__(self, path: str | os.PathLike, context: Any = None, backend: Any = None) -> None:
        self.path = Path(path)
        self.ext = self.path.suffix[1:]
        try:
            self.src = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise TileError(f"cannot read {self.path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise TileError(f"{self.path} is not text") from None
        known = [s for _, s in all_stages() if s.kernel_pattern is not None]
        #: What it may be: stages of several backends have one name.
        self.stages = [s for s in known if s.name == self.ext]
        if not self.stages:
            starts = dict.fromkeys(s.name for s in known)
            raise TileError(f"{self.path.name}: a compile starts from .{', .'.join(starts)}")
        patterns = (s.kernel_pattern for s in self.stages if s.kernel_pattern)
        found = next(filter(None, (re.search(p, self.src, re.M) for p in patterns)), None)
        if found is None:
            raise TileError(f"{self.path.name} contains no kernel")
        #: With the sign of a symbol, as programs written for Triton read it.
        self.name = ("@" if self.stages[0].is_module else "") + found.group(1)

    @functools.cached_property
    def parameters(self) -> dict[str, str]:
        """The types of the parameters, by name, where the text has them: a module of tensors."""
        return (signature_of(self.src) if self.stages[0].is_module else None) or {}

    @property
    def signature(self) -> dict[int, str]:
        """The same by position, in the words of the IR, as programs written for Triton read it."""
        return dict(enumerate(words_of_signature(self.src) if self.stages[0].is_module else ()))

    def hash(self) -> str:
        # The path is in the locations, and so in line tables.
        parts = (self.ext, str(self.path), self.src)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def make_ir(
        self, target: Any, options: Any, codegen_fns: Any = None, module_map: Any = None,
        context: Any = None,
    ) -> Any:  # fmt: skip
        """The module of the file; only the context matters, as `make_ir(options, context)` also
        gives it."""
        context = options if context is None else context
        if self.stages[0].is_module:
            try:
                module = _C.ir.Module.parse(self.src, context, str(self.path))
                module.verify()
            except _C.ir.MLIRError as error:
                raise from_diagnostics(error) from None
            return module
        return self.src

    def parse_options(self) -> dict:
        if self.ext not in WITH_WARPS:
            return {}
        options = {}
        for key, name in (("num_warps", "num-warps"), ("num_ctas", "num-ctas")):
            found = re.search(rf'"ttg\.{name}"\s*=\s*(\d+)', self.src)
            if found:
                options[key] = int(found.group(1))
        return options


class LazyDict(Mapping):
    """``kernel.asm``: stages by name; read from the cache when asked for. `rebuild` makes all of
    them anew, where the cache lost one meanwhile."""

    def __init__(
        self,
        items: dict[str, Any],
        rebuild: Callable[[], Any] | None = None,
        binary: Iterable[str] = (),
    ) -> None:
        self._items = items
        #: Stages that are bytes.
        self._binary = frozenset(binary)
        self._rebuild = rebuild
        self._views: dict[str, tuple[str, Callable[[Any], str]]] = {}

    def __getstate__(self) -> dict[str, Any]:
        # Files may be gone, and what makes stages later belongs to this process.
        kept = [name for name, value in self._items.items() if not callable(value)]
        items = {n: self[n] for n in kept}
        return {"_items": items, "_rebuild": None, "_binary": self._binary, "_views": {}}

    def add(self, name: str, make: Any) -> None:
        """Adds a stage that `make` makes when it is asked for."""
        self._items[name] = make

    def add_view(self, name: str, stage: str, show: Callable[[Any], str]) -> None:
        """Adds another way to look at a stage, which is no stage itself."""
        self._views[name] = (stage, show)

    def __contains__(self, name: object) -> bool:
        return name in self._items or (name in self._views and self._views[name][0] in self._items)

    def __getitem__(self, name: str) -> Any:
        if name in self._views and name not in self._items:
            stage, show = self._views[name]
            return show(self[stage])
        if name not in self._items:
            there = [*self._items, *(n for n in self._views if n in self)]
            raise KeyError(
                f"there is no stage {name!r}; there are {', '.join(there)}"
                f"{closest(str(name), there)}"
            )
        value = self._items[name]
        if callable(value):
            value = self._items[name] = value()
        if isinstance(value, CachedFile):
            try:
                raw = value.read()
            except Damaged:
                if self._rebuild is None:
                    raise
                self._items.update(self._rebuild())
                return self._items[name]
            value = self._items[name] = raw if name in self._binary else raw.decode()
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def keys(self) -> Any:
        """The names of the stages there are, as a dictionary shows them."""
        return dict.fromkeys(self._items).keys()

    def __len__(self) -> int:
        return len(self._items)


class CompiledKernel:
    """A kernel in all its stages, ready to be loaded by a driver."""

    def __init__(
        self,
        name: str,
        metadata: dict[str, Any],
        asm: dict[str, Any],
        hash: str,
        src: Any = None,
        rebuild: Callable[[], Any] | None = None,
        stages: Sequence[Stage] = (),
    ) -> None:
        self.name = name
        self.hash = hash
        #: What its backend's stages make.
        self.stages = tuple(stages)
        #: What it was compiled from: an `ASTSource` or an `IRSource`.
        self.src = src
        self._metadata = metadata
        self._metadata_tuple: tuple[int, Any] | None = None
        #: What launchers of other programs pass through to `run`.
        self.packed_metadata = (self.num_warps, metadata.get("num_ctas", 1), self.shared)
        self.asm = LazyDict(asm, rebuild, (s.name for s in self.stages if s.is_binary))
        #: The driver's handles of it, as numbers: filled by `_init_handles`.
        self.module: int | None = None
        self.function: int | None = None
        self._run: Any = None
        #: The same for launches of ours, per device.
        self.loaded: dict[Any, Any] = {}
        #: The handles of its module, which drivers unload again, and of its function, per device.
        self.driver_handles: dict[tuple[Any, int], tuple[int, int]] = {}
        #: Compiles it once more, with other options. What was pickled has no source for that.
        self.compiled_again: Callable[..., CompiledKernel] | None = None
        #: Kernels that launches of this one may run instead.
        self.variants: list[CompiledKernel] = []

    @property
    def metadata(self) -> Any:
        """The metadata, as a named tuple."""
        known = self._metadata_tuple
        if known is None or known[0] != len(self._metadata):  # ptxas adds to it.
            known = self._metadata_tuple = (len(self._metadata), metadata_tuple(self._metadata))
        return known[1]

    @property
    def metadata_group(self) -> dict[str, str]:
        """The paths of its files in the cache, by their names."""
        return CacheEntry(self.hash, getattr(self.src, "name", self.name)).files()

    @property
    def fn(self) -> Any:
        """The function, where it was compiled from Python."""
        return getattr(self.src, "fn", None)

    @property
    def signature(self) -> dict[str, Any]:
        """The types of the parameters, by name."""
        if isinstance(self.src, IRSource):
            return self.src.parameters
        return getattr(self.src, "signature", {})

    @property
    def num_warps(self) -> int:
        return self._metadata.get("num_warps", 4)

    @property
    def shared(self) -> int:
        return self._metadata.get("shared", 0)

    @property
    def kernel(self) -> Any:
        """What a driver loads."""
        for stage in reversed(self.stages):
            if stage.is_code and stage.name in self.asm:
                return self.asm[stage.name]
        return None

    @property
    def assembly(self) -> str | None:
        """The last stage that is text; None if it was not made."""
        name = last_text(self.stages).name
        return self.asm[name] if name in self.asm else None

    @property
    def n_regs(self) -> int | None:
        """Registers of a thread; None where the machine lacks the tool that knows."""
        return self._resource("n_regs")

    @property
    def n_spills(self) -> int | None:
        """Registers of a thread that live in memory for a while."""
        return self._resource("n_spills")

    @property
    def n_max_threads(self) -> int:
        """The most threads that a block of it can have."""
        return self._resource("n_max_threads") or 1024

    def _resource(self, name: str) -> int | None:
        for stage in self.stages:
            if stage.resources and name not in self._metadata and stage.name in self.asm:
                self.asm[stage.name]  # The tool, which knows, runs now if it has not.
        return self._metadata.get(name)

    def _init_handles(self) -> None:
        """Loads the kernel on the current device, unless it is loaded."""
        if self._run is None:
            from ..runtime.runner import Runner

            self._run = Runner(self)
            self.module, self.function = self.handles(self._run.first_place)

    def handles(self, place: tuple[Any, Any]) -> tuple[int, int]:
        """The driver's handles of its module and its function, where it is loaded: on a device of
        a driver. A simulator has none; a number stands for them."""
        number = id(self.loaded[place])
        return self.driver_handles.get(place, (number, number))

    @property
    def run(self) -> Any:
        """Launches: `(grid_x, grid_y, grid_z, stream, function, packed_metadata,
        launch_metadata, enter_hook, exit_hook, *arguments)`, with arguments for
        all parameters, constants included."""
        self._init_handles()
        return self._run

    def launch_metadata(self, grid: Any, stream: Any, *args: Any) -> Any:
        """What hooks are told about a launch; None where there are no hooks."""
        runtime = knobs.runtime
        hooks = (
            runtime.launch_enter_hook, runtime.launch_exit_hook, runtime.described_enter_hook,
            runtime.described_exit_hook,
        )  # fmt: skip
        if not any(hooks):
            return None
        return LaunchMetadata(self, grid, stream, args)

    def unload(self) -> None:
        """Gives back what it takes on devices, once they have done what they were given; the next
        launch loads it again. A CUDA graph that has it must not be replayed after this."""
        for kernel in (self, *self.variants):
            if kernel.fn is not None:
                kernel.fn.forget_kernel(kernel)
            kernel.module = kernel.function = kernel._run = None
            kernel.loaded.clear()
            while kernel.driver_handles:
                (active, device), (module, function) = kernel.driver_handles.popitem()
                if hook := knobs.runtime.kernel_unload_hook:
                    hook(module, function, kernel.name, kernel.metadata_group, kernel.hash)
                active.unload(module, device)
        self.variants.clear()

    def __getstate__(self) -> dict[str, Any]:
        # What drivers made stays in its process.
        here = {
            "module": None, "function": None, "_run": None, "loaded": {}, "driver_handles": {},
            "_metadata_tuple": None, "compiled_again": None,
        }  # fmt: skip
        return {**self.__dict__, **here, "variants": []}

    def __getitem__(self, grid: Any) -> Any:
        """``kernel[grid](...)`` launches this very kernel; the arguments are
        those of all its parameters, constants included."""
        from ..runtime.runner import launch_compiled

        return functools.partial(launch_compiled, self, grid)

    def __repr__(self) -> str:
        return f"CompiledKernel({self.name}, stages: {', '.join(self.asm)})"


class LaunchMetadata:
    """What hooks are told about a launch; computed when a hook asks."""

    def __init__(self, kernel: CompiledKernel, grid: Any, stream: Any, args: tuple) -> None:
        self.data: dict[str, Any] = {
            "name": kernel.name, "function": kernel.function, "stream": stream,
        }  # fmt: skip
        fn = kernel.fn
        describe = getattr(fn, "launch_metadata", None)
        self.extras: list[tuple[Any, tuple]] = []
        if describe is not None:
            named = dict(zip(fn.arg_names, args, strict=False))
            self.extras.append((describe, (grid, kernel.metadata, named)))

    def add(self, func: Any, args: tuple) -> None:
        """Adds what a function returns."""
        self.extras.append((func, args))

    def get(self) -> dict[str, Any]:
        """All that is known, by name."""
        for func, args in self.extras:
            self.data |= func(*args)
        self.extras.clear()
        return self.data


@functools.lru_cache(maxsize=64)
def _metadata_class(fields: tuple[str, ...]) -> Any:
    return namedtuple("KernelMetadata", fields)


def metadata_tuple(metadata: dict[str, Any]) -> Any:
    """Metadata by attribute: what is stored, and what is the same for all kernels."""
    fields = {
        "num_ctas": 1, "shared": 0, "global_scratch_size": 0, "global_scratch_align": 1,
        "profile_scratch_size": 0, "profile_scratch_align": 1, "tensordesc_meta": None,
        **metadata,
    }  # fmt: skip
    fields["cluster_dims"] = (fields["num_ctas"], 1, 1)
    target = fields.get("target")
    if isinstance(target, dict):
        fields["target"] = GPUTarget(**target)
    names = tuple(sorted(fields))
    return _metadata_class(names)(*(fields[name] for name in names))


@entry_point
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
    check_target(target)
    if target.backend == "cpu":  # What works on the CPU's tensors is the simulator.
        target = simulated_target()
        lazy_after = lazy_after or find_backend(target).simulated_stage
    target, options = chosen_target(target, options or {})
    if isinstance(src, (str, os.PathLike)):
        src = IRSource(src)
    from .stages import StagedCompile

    kernel = StagedCompile(src, target, options, stop_at, lazy_after).kernel()
    kernel.compiled_again = functools.partial(_compile_again, src, target, options, lazy_after)
    return kernel


def _compile_again(
    src: Any, target: GPUTarget, options: dict[str, Any], lazy_after: str | None, **more: Any
) -> CompiledKernel:
    return compile(src, target, {**options, **more}, lazy_after=lazy_after)
