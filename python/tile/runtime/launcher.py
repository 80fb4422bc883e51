"""The path from ``kernel[grid](...)`` to the driver."""

from __future__ import annotations

import functools
import inspect
import re
import sys
import threading
from typing import Any, NamedTuple

from .. import _C, knobs
from ..backends import chosen_target, find_backend, option_names
from ..errors import OutOfResources, TileError
from ..tracebacks import entry_point
from . import overlap, scalars
from . import specialize as sp
from .arguments import (
    CONSTANT,
    SPECIALIZE,
    TYPE_ONLY,
    UNALIGNED,
    VALUE,
    constant_in_key,
    make_binder,
    mode_of,
    note_passed,
    plain,
    take_apart,
)
from .asynchronous import FutureKernel, active_mode
from .definition import check_kernel, places
from .dependencies import Reach, reach_of
from .driver import driver
from .references import Reference
from .runner import launch_hooks, load, make_launch


@functools.lru_cache(maxsize=1)
def _launch_state() -> Any:
    """What the launches of all kernels look at, without running Python."""
    from ..language.dtypes import dtype
    from .jit import JITFunction

    return _C.launch.LaunchState(
        drivers=driver,
        environment=knobs.environment_of_the_process(),
        flags=knobs.INTERPRETING + knobs.INSTRUMENTING,
        settings=(knobs.runtime.__dict__, knobs.compilation.__dict__),
        overrides=(
            "interpret",
            "launch_enter_hook",
            "launch_exit_hook",
            "described_enter_hook",
            "described_exit_hook",
        ),
        # Those that programs add to. What takes their place is one of the overrides.
        hooks=(_chain("launch_enter_hook").calls, _chain("launch_exit_hook").calls),
        describe=tuple(SPECIALIZE[m] for m in (VALUE, UNALIGNED, TYPE_ONLY)),
        constant=constant_in_key,
        opaque=(dtype, JITFunction),
        mode=(knobs.compilation.__dict__, "instrumentation_mode"),
    )


def _chain(name: str) -> Any:
    """The functions of a hook, also while something else takes its place."""
    return getattr(type(knobs.runtime), name)


@functools.lru_cache(maxsize=1)
def _around() -> tuple[list, Any, Any]:
    """What is called around launches of kernels that have a `launch_metadata`."""
    from ..compiler.compiler import LaunchMetadata

    enter, exit = _chain("described_enter_hook"), _chain("described_exit_hook")

    def enter_described(kernel: Any, grid: tuple, stream: Any, values: tuple) -> Any:
        kernel._init_handles()
        told = LaunchMetadata(kernel, grid, stream, values)
        enter(told)
        return told

    return enter.calls, enter_described, exit


class JitFunctionInfo(NamedTuple):
    """The function that a hook around compiles is told about."""

    module: str
    name: str
    jit_function: Any


def _hashable(value: Any) -> Any:
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


#: A launch begins again without tensor maps where there are none for its arguments, and where a
#: hook, or an argument, unloads its kernel.
_MOST_TRIES = 4


def without_tensor_maps(active: Any, options: dict) -> dict:
    """The options of a launch for whose descriptors there is no tensor map."""
    return {**options, **find_backend(active.get_current_target()).without_tensor_maps}


class _GridArguments(dict):
    """What a grid function is called with: the arguments by name."""

    def __init__(self, launcher: Launcher, arguments: Any) -> None:
        super().__init__(arguments)
        self.launcher = launcher

    def __missing__(self, name: str) -> Any:
        from ..hints import closest

        raise self.launcher.refusal(
            f"the grid of `{self.launcher.fn.__name__}` asks for {name!r}, which is no parameter; "
            f"its parameters are {', '.join(self)}{closest(str(name), self)}"
        )


class Launcher:
    """Compiles and launches one kernel; knows what is compiled already."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.name = fn.__name__
        check_kernel(fn)
        self.bind = make_binder(fn)
        self.modes = [mode_of(p) for p in fn.params]
        self.is_described = fn.launch_metadata is not None
        state = _launch_state()
        missing = inspect.Parameter.empty
        self.dispatcher = _C.launch.Dispatcher(
            state=state,
            modes=self.modes,
            names=tuple(sys.intern(p.name) for p in fn.params),
            defaults=tuple(state if p.default is missing else p.default for p in fn.params),
            hooks=fn.pre_run_hooks,
            slow=self.launch,
            around=_around() if self.is_described else None,
        )
        #: Held while a kernel is loaded; loading may call hooks that launch it.
        self.loading = threading.RLock()
        #: Kernels that `preload` compiled, until a launch asks for them.
        self.preloaded: dict[tuple, Any] = {}
        #: What kernels were compiled with.
        self.references: list[Reference] = []
        #: Kernels whose constants reach into the program: what these were when it was compiled.
        self.reaching: list[tuple[Any, Reach]] = []
        #: Constant parameters that are options too, such as `num_warps`.
        self.shared_options = [
            (i, p.name)
            for i, p in enumerate(fn.params)
            if p.is_constexpr and p.name in option_names()
        ]

    @entry_point
    def launch(self, grid: Any, args: tuple, kwargs: dict) -> Any:
        """A launch that the dispatcher leaves to Python."""
        warmup = False
        if "warmup" in kwargs and "warmup" not in self.fn.arg_names:
            warmup = kwargs.pop("warmup")
        for hook in self.fn.pre_run_hooks:
            hook(*args, **kwargs)
        if knobs.interpreting():
            from ..interpreter import interpret

            return interpret(self.fn, grid, args, kwargs, warmup)
        values, options = self.bound(args, kwargs, warmup)
        # Options are part of keys.
        options = with_mode({n: _hashable(value) for n, value in options.items()})
        if warmup:
            return self.warmup(values, options)
        return self.run(grid, values, options)

    def warmup(self, values: tuple, options: dict) -> Any:
        """Compiles without launching."""
        active = driver.active
        mode = active_mode()
        if mode is None:
            return self.prepare(active, values, options, is_warmup=True)
        device = active.get_current_device()
        kernels = self.fn.device_caches[device][0]
        key = self.fn.device_caches.key(device, values, options)

        def compile() -> Any:
            try:
                return self.prepare(active, values, options, is_warmup=True)
            except Exception:
                forget()
                raise

        def forget() -> None:
            kernels.pop(key, None)  # It may be tried again.

        if not mode.compiles(kernels.get(key)):
            in_words = functools.partial(self.in_words, active, values, options)
            kernels[key] = mode.submit(compile, in_words, forget)
        return kernels[key]

    def under_way(self, active: Any, values: tuple, options: dict) -> FutureKernel | None:
        """The kernel for these values, if an `AsyncCompileMode` compiles it."""
        mode = active_mode()
        if mode is None:
            return None
        found = self.fn.device_caches.lookup(active.get_current_device(), values, options)
        return found if mode.compiles(found) else None

    def run(self, grid: Any, values: tuple, options: dict) -> Any:
        active = driver.active
        device = active.get_current_device()
        active.enter_device(device)
        x, y, z = self.grid(grid, values)
        stream = active.get_current_stream(device)
        self.check_references()
        entry = self.compiled(active, device, values, options)
        enter, exit = launch_hooks(self.is_described)
        metadata = None
        if enter or exit:
            # Hooks are told about the kernel that runs, once.
            if not self.dispatcher.has_tensor_maps(entry, active, device, values):
                options = without_tensor_maps(active, options)
                entry = self.compiled(active, device, values, options)
            entry.kernel._init_handles()
            metadata = entry.kernel.launch_metadata((x, y, z), stream, *values)
        for hook in enter:
            hook(metadata)
        for _ in range(_MOST_TRIES):
            result = self.dispatcher.launch(entry, active, device, stream, values, x, y, z)
            if result.__class__ is not int or result >= 0:
                break
            if result == _C.launch.NO_TENSOR_MAP:
                without = without_tensor_maps(active, options)
                if options == without:
                    break
                options = without
            entry = self.compiled(active, device, values, options)
        for hook in exit:
            hook(metadata)
        if result.__class__ is int:
            active.raise_launch_error(result, self.name)
        return entry.kernel

    def compiled(self, active: Any, device: int, values: tuple, options: dict) -> Any:
        """The kernel for these values, loaded on a device, as the dispatcher has it."""
        place = (active, device, tuple(options.items()) if options else None, values)
        try:
            entry = self.dispatcher.find(*place)
        except TileError:
            self.describe(values)  # Says which argument it is.
            raise
        if entry is not None:
            return entry
        pending = self.under_way(active, values, options)
        kernel = pending.result() if pending else self.prepare(active, values, options)
        active.check_arguments(kernel, self.arguments(kernel, values))
        with self.loading:
            # Another thread may have compiled the same meanwhile: it is loaded once.
            entry = self.dispatcher.find(*place)
            if entry is None:
                launch = load(kernel, active, device)
                entry = self.dispatcher.insert(
                    *place, kernel, launch, self.passed(kernel), *overlap.direct(launch)
                )
        return entry

    def check_references(self) -> None:
        """Refuses to launch kernels that were compiled with other globals, or the like."""
        for reference in self.references:
            known = reference.value
            if reference.has_changed():
                from ..compiler.errors import ChangedReference

                raise ChangedReference(reference.explain(self.name), places(self.fn, None))
            if reference.value is not known:
                self.watch()
        self.forget_changed_constants()

    def forget_changed_constants(self) -> None:
        """Forgets kernels for constants that are not what they were: a function, say, that reads
        another global. The next launch with such a constant compiles it anew."""
        changed = [kernel for kernel, reach in self.reaching if reach.has_changed()]
        if changed:
            for kernel in changed:
                self.dispatcher.forget(kernel)
            self.reaching = [pair for pair in self.reaching if pair[0] not in changed]
            self.watch()

    def remember_references(self) -> None:
        """Notes what the function is being compiled with."""
        if not self.references:
            self.references = list(self.fn.references)
            self.watch()

    def remember_constants(self, kernel: Any, constants: dict) -> None:
        """Notes what the constants are that a kernel is compiled for."""
        reach = reach_of(constants)
        if reach is not None:
            self.reaching.append((kernel, reach))
            self.watch()

    def watch(self) -> None:
        """Tells the dispatcher when it has to ask Python whether something has changed."""
        seen = [*self.references, *(r for _, reach in self.reaching for r in reach.references)]
        self.dispatcher.set_references([r.for_dispatcher() for r in seen])

    def bound(self, args: tuple, kwargs: dict, warmup: bool = False) -> tuple[tuple, dict]:
        """The values of all parameters, and the options. In a warm-up, a type stands for a tensor
        of it, but as a constant."""
        from .jit import MockTensor

        try:
            values, options = self.bind(*args, **kwargs)
        except TypeError as error:
            # A parameter that is misspelt is missing, too.
            self.check_options({n: v for n, v in kwargs.items() if n not in self.fn.arg_names})
            raise self.argument_error(error) from None
        if not warmup:
            return values, options
        stand_ins = (
            value if mode == CONSTANT else MockTensor.wrap_dtype(value)
            for value, mode in zip(values, self.modes, strict=True)
        )
        return tuple(stand_ins), options

    def grid(self, grid: Any, values: tuple) -> tuple[int, int, int]:
        if callable(grid):
            grid = grid(_GridArguments(self, zip(self.fn.arg_names, values, strict=False)))
        if grid.__class__ is not tuple:
            if isinstance(grid, (int,)) and not isinstance(grid, bool):
                grid = (grid,)
            elif isinstance(grid, list):
                grid = tuple(grid)
            else:
                raise self.refusal(
                    f"the grid of `{self.fn.__name__}` must be a tuple of 1 to 3 integers, or a "
                    "function that returns "
                    f"one, not {grid!r}"
                )
        size = len(grid)
        if size == 3:
            x, y, z = grid
            if x.__class__ is int and y.__class__ is int and z.__class__ is int:
                if 0 <= x < 2147483648 and 0 <= y < 65536 and 0 <= z < 65536:
                    return grid
        elif size == 1:
            x = grid[0]
            if x.__class__ is int and 0 <= x < 2147483648:
                return x, 1, 1
        if not 1 <= size <= 3:
            raise self.refusal(
                f"the grid of `{self.fn.__name__}` must have 1 to 3 dimensions, not {size}"
            )
        for extent in grid:
            if not hasattr(extent, "__index__") or extent < 0:
                raise self.refusal(
                    f"the grid of `{self.fn.__name__}` has the extent {extent!r}; extents are "
                    "integers from 0"
                )
        x = int(grid[0])
        y = int(grid[1]) if size > 1 else 1
        z = int(grid[2]) if size > 2 else 1
        if x > 0x7FFFFFFF or y > 65535 or z > 65535:
            raise self.refusal(
                f"the grid of `{self.fn.__name__}` is {(x, y, z)}, but a GPU allows at most "
                "(2147483647, 65535, 65535)"
            )
        return x, y, z

    def argument_error(self, error: TypeError) -> Exception:
        text = str(error).replace("_options", "options")
        if not text.startswith(f"{self.fn.__name__}("):
            return error
        named = re.search(r"argument[^']*'(\w+)'", text)
        return self.refusal(
            text.replace(f"{self.fn.__name__}()", f"`{self.fn.__name__}`", 1),
            named.group(1) if named else None,
        )

    def refusal(
        self, message: str, parameter: str | None = None, too_large: bool = False
    ) -> TileError:
        """An error of a launch: its place is the kernel's, or a parameter's."""
        from ..compiler.errors import LaunchError, TooLargeArgument

        kind = TooLargeArgument if too_large else LaunchError
        return kind(message, places(self.fn, parameter))

    def launch_compiled(self, kernel: Any, grid: Any, args: tuple, kwargs: dict) -> Any:
        """Launches a kernel that was compiled before, for whatever arguments."""
        try:
            values, _ = self.bound(args, kwargs)
        except TileError:
            # Libraries leave out the constants for new releases, as FlagGems does.
            values = self.with_constants(kernel, args)
            if kwargs or values is None:
                raise
        active = driver.active
        stream = active.get_current_stream(active.get_current_device())
        kernel.run(*self.grid(grid, values), stream, None, None, None, None, None, *values)
        return kernel

    def with_constants(self, kernel: Any, args: tuple) -> tuple | None:
        """The values of all parameters, given those that are no constants; None if `args` are
        not as many as these."""
        if len(args) != sum(mode != CONSTANT for mode in self.modes):
            return None
        constants, rest = kernel.src.constants, iter(args)
        return tuple(
            constants.get((i,)) if mode == CONSTANT else next(rest)
            for i, mode in enumerate(self.modes)
        )

    # Compiling.

    def prepare(self, active: Any, values: tuple, options: dict, is_warmup: bool = False) -> Any:
        """Compiles the kernel for these values of its parameters."""
        from ..compiler import compile as compile_kernel

        source, target, chosen = self.source(active, values, options)
        hooks = (knobs.runtime.jit_cache_hook, knobs.runtime.jit_post_compile_hook)
        caches = self.fn.device_caches
        key = caches.key(active.get_current_device(), values, options)
        told = (key, source, target, chosen, is_warmup)

        def compile(**more: Any) -> Any:
            return compile_kernel(
                source,
                target=target,
                options={**chosen, **more},
                lazy_after=getattr(active, "last_stage", None),
            )

        kernel = self.preloaded.pop(self.preload_key(source, target, chosen), None)
        is_new = kernel is None
        if is_new:
            self.tell(hooks[0], *told)
            kernel = compile()
        #: For arguments that this one takes to be disjoint, and are not.
        kernel.for_overlapping_arguments = lambda: compile(**{overlap.OPTION: True})
        # Programs may look into them later.
        caches[active.get_current_device()][0][key] = kernel
        self.remember_references()
        self.remember_constants(kernel, source.constants)
        if is_new:
            self.tell(hooks[1], *told)
        return kernel

    def source(self, active: Any, values: tuple, options: dict) -> tuple[Any, Any, dict]:
        """What is compiled for these values, for which target, with which options."""
        from ..compiler import ASTSource, make_backend
        from ..compiler.errors import RefusedOptions

        signature, constants, hints = self.describe(values)
        self.check_options(options)
        self.check_references()
        chosen = self.with_defaults(values, options)
        source = ASTSource(self.fn, signature, constants, hints)
        try:
            target, chosen = chosen_target(active.get_current_target(), chosen)
            make_backend(target).parse_options(chosen)
        except OutOfResources as error:
            raise error.of(self.fn.__name__) from None
        except TileError as error:
            raise RefusedOptions(str(error), places(self.fn, None)) from None
        return source, target, chosen

    def in_words(self, active: Any, values: tuple, options: dict) -> tuple | None:
        """What another process compiles the kernel from; None if it cannot."""
        from . import preload

        if preload.find_function(self.fn.module, self.fn.__qualname__) is not self.fn:
            return None
        source, target, chosen = self.source(active, values, options)
        key = self.fn.device_caches.key(active.get_current_device(), values, options)
        data = preload.specialization_data(source, target, chosen, key)
        last = getattr(active, "last_stage", None)
        return data and (self.fn.module, self.fn.__qualname__, data, target, last)

    def preload(self, data: str) -> Any:
        """Compiles the kernel for what another process compiled it for."""
        from ..compiler import compile as compile_kernel
        from . import preload

        active = driver.active
        target = active.get_current_target()
        source, options, key = preload.load(self.fn, data, target)
        last = getattr(active, "last_stage", None)
        kernel = compile_kernel(source, target=target, options=options, lazy_after=last)
        self.preloaded[self.preload_key(source, target, options)] = kernel
        self.fn.device_caches[active.get_current_device()][0][key] = kernel
        return kernel

    @staticmethod
    def preload_key(source: Any, target: Any, options: dict) -> tuple:
        return source.hash(), target, tuple(sorted(options.items()))

    def tell(
        self, hook: Any, key: str | None, source: Any, target: Any, options: dict, is_warmup: bool
    ) -> None:
        """Calls a hook around compiles, if there is one."""
        if hook is None:
            return
        from .preload import specialization_data

        types = ", ".join(f"{name}: {spec}" for name, spec in source.signature.items())
        details = {
            "signature": source.signature, "constants": source.constants, "target": target,
            "attrs": source.attrs, "key": key, "is_warmup": is_warmup, **options,
            "specialization_data": specialization_data(source, target, options, key),
            "device": driver.active.get_current_device(), "configs": [source.attrs],
        }  # fmt: skip
        # Of `device_caches`, where hooks find the kernel; preloaded ones are not there yet.
        hook(
            key=key or source.hash(), repr=f"{self.name}[{options}]({types})",
            fn=JitFunctionInfo(self.fn.module, self.fn.__qualname__, self.fn), compile=details,
            is_manual_warmup=is_warmup, already_compiled=False,
        )  # fmt: skip

    def arguments(self, kernel: Any, values: tuple) -> tuple:
        """What a launch passes, tuples and descriptors taken apart."""
        flat: list[Any] = []
        for name, value in zip(self.fn.arg_names, values, strict=True):
            take_apart(kernel.signature[name], value, flat)
        return tuple(flat)

    def passed(self, kernel: Any) -> list[bool]:
        """Which of the arguments, taken apart, a kernel takes."""
        flags: list[bool] = []
        for p, mode in zip(self.fn.params, self.modes, strict=True):
            if mode != CONSTANT:
                note_passed(kernel.signature[p.name], flags)
        return flags

    def with_defaults(self, values: tuple, options: dict) -> dict:
        """The options of a launch, with those that constants and the decorator give."""
        chosen = dict(options)
        for i, name in self.shared_options:
            if isinstance(values[i], int):
                chosen.setdefault(name, values[i])
        if self.fn.debug is not None or knobs.runtime.debug:
            chosen.setdefault("debug", bool(self.fn.debug) or knobs.runtime.debug)
        return chosen

    def describe(self, values: tuple) -> tuple[dict, dict, dict]:
        """What the kernel is compiled for: the types of its parameters, the
        constants among them, and hints on the others."""
        signature: dict[str, Any] = {}
        constants: dict[tuple[int, ...], Any] = {}
        hints: dict[tuple[int, ...], Any] = {}
        for i, (p, mode) in enumerate(zip(self.fn.params, self.modes, strict=True)):
            if mode == CONSTANT:
                signature[p.name] = "constexpr"
                constants[(i,)] = plain(values[i])
                continue
            try:
                key = SPECIALIZE[mode](values[i])
            except TileError as error:
                raise self.refusal(
                    f"the argument `{p.name}`: {error}", p.name, isinstance(error, OverflowError)
                ) from None
            spec = sp.decode(key, values[i], (i,), constants, hints)
            if p.type_name is not None and isinstance(spec, str) and not spec.startswith("*"):
                if message := scalars.refusal(p.type_name, values[i]):
                    raise self.refusal(f"the argument `{p.name}`: {message}", p.name)
                spec = p.type_name
                constants.pop((i,), None)
                hints[(i,)] = sp.known_of(spec, hints.get((i,), []))
            if p.is_const and isinstance(spec, str) and spec.startswith("*"):
                spec = "*k" + spec[1:]
            signature[p.name] = spec
        return signature, constants, hints

    def check_options(self, options: dict) -> None:
        unknown = [name for name in options if name not in option_names()]
        if unknown:
            from ..hints import closest

            hint = closest(unknown[0], [*self.fn.arg_names, *sorted(option_names())])
            raise self.refusal(
                f"`{self.fn.__name__}` has no parameter `{unknown[0]}`, and no such option "
                f"exists; its parameters are {', '.join(self.fn.arg_names)}{hint}"
            )


def with_mode(options: dict) -> dict:
    """The options of a launch. In a mode of instrumentation its kernel is another one, also for the
    dispatcher."""
    mode = knobs.compilation.instrumentation_mode
    return {"instrumentation_mode": mode, **options} if mode else options


def simulate(fn: Any, grid: Any, args: tuple, kwargs: dict) -> Any:
    """Compiles and runs a kernel in the simulator, and returns the report."""
    from ..backends import drivers
    from ..sim.launcher import assumption_bits, check_bits

    names = {
        "check": "checks",
        **{
            n: n
            for n in (
                "max_instructions",
                "schedule_seed",
                "schedules",
                "assumptions",
                "suppressions",
            )
        },
    }
    given = {to: kwargs.pop(name, None) for name, to in names.items()}
    extra = {name: value for name, value in given.items() if value is not None}
    if "checks" in extra:
        extra["checks"] = check_bits(extra["checks"])
    if "assumptions" in extra:
        extra["assumptions"] = assumption_bits(extra["assumptions"])
    simulator = drivers()["sim"]()
    launcher = Launcher(fn)
    values, options = launcher.bound(args, kwargs)
    options = with_mode(options)
    x, y, z = launcher.grid(grid, values)

    def run(options: dict) -> Any:
        kernel = launcher.prepare(simulator, values, options)
        launch = make_launch(kernel, simulator)
        return launch(x, y, z, 0, launcher.arguments(kernel, values), **extra)

    result = run(options)
    if result.__class__ is int and result == _C.launch.NO_TENSOR_MAP:
        return run(without_tensor_maps(simulator, options))
    return result
