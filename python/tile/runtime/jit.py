"""@tile.jit: functions that are compiled for the arguments they are called with."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from .. import knobs
from ..errors import SemanticError, TileError

T = TypeVar("T")


class KernelInterface(Generic[T]):
    """Anything that is launched as ``kernel[grid](...)``."""

    run: Callable[..., Any]

    def warmup(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Compiles for these arguments without launching."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)

    def __getitem__(self, grid: Any) -> T:
        return functools.partial(self.run, grid=grid, warmup=False)  # type: ignore[return-value]


def _is_constexpr(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.replace(" ", "").split(".")[-1] == "constexpr"
    return (
        getattr(annotation, "__name__", None) == "constexpr"
        or type(annotation).__name__ == "constexpr"
    )


class Parameter:
    """One parameter of a kernel, and how arguments for it are specialised."""

    __slots__ = (
        "annotation",
        "default",
        "is_const",
        "is_constexpr",
        "name",
        "specialize",
        "specialize_alignment",
    )

    def __init__(self, parameter: inspect.Parameter, specialize: bool, alignment: bool) -> None:
        self.name = parameter.name
        self.default = parameter.default
        self.is_constexpr = _is_constexpr(parameter.annotation)
        annotation = parameter.annotation
        self.is_const = (
            "const" in str(getattr(annotation, "__name__", annotation)) and not self.is_constexpr
        )
        self.annotation = _annotated_type(annotation)
        self.specialize = specialize
        self.specialize_alignment = alignment


def _annotated_type(annotation: Any) -> str | None:
    """A type that the signature fixes: ``n: tl.int64`` or ``n: "i64"``."""
    if annotation is inspect.Parameter.empty:
        return None
    text = annotation if isinstance(annotation, str) else getattr(annotation, "name", None)
    if text is None:
        return None
    names = {
        "int1": "i1", "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
        "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "fp16",
        "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    }  # fmt: skip
    text = text.split(".")[-1]
    text = names.get(text, text)
    known = {*names.values(), "fp16", "bf16"}
    return text if text in known else None


#: The language's; it is loaded later than this.
_state: Any = None


def _eager_builder() -> Any:
    """The interpreter's, where a kernel is being interpreted."""
    global _state
    if _state is None:
        from ..language import state

        _state = state._state
    builder = _state.builder
    return builder if builder is not None and builder.eager else None


class JITFunction(KernelInterface[T]):
    """A function of the language: a kernel, or one that kernels call."""

    __tile_jit__ = True
    __tile_callable__ = True

    def __init__(
        self,
        fn: Callable,
        version: Any = None,
        do_not_specialize: Iterable[int | str] | None = None,
        do_not_specialize_on_alignment: Iterable[int | str] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable | None = None,
        launch_metadata: Callable | None = None,
    ) -> None:
        self.fn = fn
        self.version = version
        self.debug = debug
        self.noinline = bool(noinline)
        self._repr = repr
        self.launch_metadata = launch_metadata
        self._no_specialize = set(do_not_specialize or ())
        self._no_alignment = set(do_not_specialize_on_alignment or ())
        self.module = fn.__module__
        self.pre_run_hooks: list[Callable] = []
        self._launcher: Any = None
        functools.update_wrapper(self, fn)

    # The function.

    @functools.cached_property
    def python_signature(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    @property
    def signature(self) -> inspect.Signature:
        return self.python_signature

    @functools.cached_property
    def params(self) -> list[Parameter]:
        result = []
        for i, (name, parameter) in enumerate(self.python_signature.parameters.items()):
            free = i not in self._no_specialize and name not in self._no_specialize
            aligned = free and i not in self._no_alignment and name not in self._no_alignment
            result.append(Parameter(parameter, free, aligned))
        return result

    @functools.cached_property
    def arg_names(self) -> list[str]:
        return [p.name for p in self.params]

    @functools.cached_property
    def constexpr_names(self) -> set[str]:
        return {p.name for p in self.params if p.is_constexpr}

    def parse(self) -> Any:
        """The AST; parsed once."""
        return self._parsed

    @functools.cached_property
    def _parsed(self) -> Any:
        from .source import parse

        return parse(self.fn)

    @functools.cached_property
    def cache_key(self) -> str:
        """Changes when the function, or anything it uses, changes."""
        from .source import digest

        return digest(self)

    @property
    def src(self) -> str:
        from .source import get_source

        return get_source(self.fn)[0]

    def repr(self, specialization: Any) -> str:
        return self._repr(specialization) if self._repr else self.fn.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        builder = _eager_builder()
        if builder is not None:
            return builder.call(self, args, kwargs)
        raise SemanticError(
            f"`{self.__name__}` is a kernel: launch it as {self.__name__}[grid](...); only other "
            "kernels call it directly"
        )

    def __repr__(self) -> str:
        return f"JITFunction({self.module}:{self.fn.__qualname__})"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """In interpreted kernels, jit functions are methods as any function is."""
        if instance is None or _eager_builder() is None:
            return self
        return functools.partial(self, instance)

    # Launching.

    def add_pre_run_hook(self, hook: Callable) -> None:
        """Calls `hook` with the arguments of each launch, before it."""
        self.pre_run_hooks.append(hook)

    def launcher(self) -> Any:
        launcher = self._launcher
        if launcher is None:
            from .launcher import Launcher

            launcher = self._launcher = Launcher(self)
        return launcher

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        launcher = self._launcher or self.launcher()
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        if knobs.interpreting():
            from ..interpreter import interpret

            return interpret(self, grid, args, kwargs, warmup)
        try:
            return launcher(grid, warmup, args, kwargs)
        except TileError as error:
            if knobs.compilation.front_end_debugging:
                raise
            # The message has the place in the user's code; our stack is noise.
            raise error.with_traceback(None) from error.__cause__

    def interpret(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Runs the kernel in Python, on NumPy; see the interpreter."""
        from ..interpreter import interpret

        return interpret(self, grid, args, kwargs)

    def simulate(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Runs the kernel in the simulator; returns its report."""
        from .launcher import simulate

        return simulate(self, grid, args, kwargs)


class ConstexprFunction:
    """A Python function that kernels may call on constants."""

    __tile_constexpr_function__ = True
    __tile_callable__ = True

    def __init__(self, fn: Callable) -> None:
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)


def constexpr_function(fn: Callable) -> ConstexprFunction:
    """Lets kernels call a Python function on constants, while they compile."""
    return ConstexprFunction(fn)


def jit(
    fn: Callable | None = None,
    *,
    version: Any = None,
    repr: Callable | None = None,
    launch_metadata: Callable | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Any:
    """Makes a kernel, or a function that kernels call, of a Python function.

    A kernel is launched as ``kernel[grid](arguments)``. It is compiled for the
    types of its arguments, for constants (``tl.constexpr`` parameters), and
    for whether pointers and integers are multiples of 16 and integers are 1;
    `do_not_specialize` lists parameters for which the latter is not done.
    """

    def decorate(fn: Callable) -> JITFunction:
        if not callable(fn) or not hasattr(fn, "__code__"):
            raise TileError(f"@tile.jit decorates functions, not {fn!r}")
        return JITFunction(
            fn,
            version=version,
            do_not_specialize=do_not_specialize,
            do_not_specialize_on_alignment=do_not_specialize_on_alignment,
            debug=debug,
            noinline=noinline,
            repr=repr,
            launch_metadata=launch_metadata,
        )

    return decorate if fn is None else decorate(fn)


class MockTensor:
    """Stands for a tensor of a type where only that matters (`warmup`)."""

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        cls = type(arg)
        if cls.__name__ == "dtype" and cls.__module__ in ("torch", "tile.language.dtypes"):
            return MockTensor(arg)
        return arg

    def __init__(self, dtype: Any, shape: Any = None) -> None:
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    def stride(self) -> list[int]:
        strides = [1]
        for size in self.shape[1:]:
            strides.append(strides[-1] * size)
        return strides[::-1]

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0


class TensorWrapper:
    """A tensor whose elements are read as another type."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.base = base
        self.dtype = dtype
        self.shape = base.shape
        self.is_cuda = getattr(base, "is_cuda", False)
        self.device = getattr(base, "device", None)

    def data_ptr(self) -> int:
        return self.base.data_ptr()

    def stride(self, *args: Any) -> Any:
        return self.base.stride(*args)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """The same memory, with its elements read as another type."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr") or hasattr(tensor, "__array_interface__"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"cannot reinterpret a {type(tensor).__name__}")
