"""@tile.jit: functions that are compiled for the arguments they are called with."""

from __future__ import annotations

import functools
import inspect
import math
import threading
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from .. import _C
from ..errors import SemanticError, TileError
from ..tracebacks import entry_point
from .copies import Copied
from .depth import deep_stack
from .parameters import KernelParam
from .references import Reference
from .source import capture

T = TypeVar("T")
#: Held while a function's dependencies are looked for; a function's own lock may be taken away.
_digesting = threading.RLock()
#: The functions that exist, also those inside of others, by module and name; of several the last.
defined: weakref.WeakValueDictionary[tuple[str, str], Any] = weakref.WeakValueDictionary()


class KernelInterface(Copied, Generic[T]):
    """Anything that is launched as ``kernel[grid](...)``."""

    run: Callable[..., Any]

    @entry_point
    def warmup(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Compiles for these arguments without launching."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    def __getitem__(self, grid: Any) -> T:
        return functools.partial(self.run, grid=grid, warmup=False)  # type: ignore[return-value]


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


class _Name:
    """The name of a kernel that has one for all specialisations."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, specialization: Any) -> str:
        return self.name


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
        #: The kernel's name for a specialisation: a function of it.
        self.repr = _Name(fn.__name__) if repr is None else repr
        self.launch_metadata = launch_metadata
        self.do_not_specialize = list(do_not_specialize or ())
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or ())
        self.module = fn.__module__
        self.pre_run_hooks: list[Callable] = []
        self._launcher: Any = None
        self._lines = capture(fn)
        self.__globals__ = fn.__globals__
        #: Other programs set it.
        self._hash_lock: Any = threading.RLock()
        self._digest: tuple[str, list[Reference]] | None = None
        self._dispatcher: Any = None
        functools.update_wrapper(self, fn)
        defined[self.module, fn.__qualname__] = self

    # The function.

    @functools.cached_property
    def python_signature(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    @property
    def signature(self) -> inspect.Signature:
        return self.python_signature

    @functools.cached_property
    def params(self) -> list[KernelParam]:
        fixed, unaligned = self.do_not_specialize, self.do_not_specialize_on_alignment
        result = []
        for i, (name, parameter) in enumerate(self.python_signature.parameters.items()):
            free = i in fixed or name in fixed
            result.append(
                KernelParam(i, parameter, free, free or i in unaligned or name in unaligned)
            )
            if free and result[-1].is_constexpr:
                from ..compiler.errors import CompilationError

                raise CompilationError(
                    f"{name} marked as constexpr and listed in do_not_specialize: a constant is "
                    "part of what the kernel is compiled for"
                )
        return result

    @property
    def constexprs(self) -> list[int]:
        """The indices of the constants."""
        return [p.num for p in self.params if p.is_constexpr]

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

        return parse(self.fn, self._lines)

    @property
    def cache_key(self) -> str:
        """Changes when the function, or anything it uses, changes."""
        return self._dependencies()[0]

    @property
    def references(self) -> list[Reference]:
        """What the function, or one it calls, reads from modules, classes and closures."""
        return self._dependencies()[1]

    def _dependencies(self) -> tuple[str, list[Reference]]:
        from .dependencies import digest

        with _digesting:
            found = self._digest
            if found is not None and self.fn is None:
                return found  # Other programs take the function away for a while.
            if found is None or any(r.has_changed() for r in found[1]):
                with deep_stack():
                    found = self._digest = digest(self)
        return found

    @property
    def src(self) -> str:
        """The source, from ``def`` on."""
        from .source import from_def

        known = vars(self).get("_parsed")
        return from_def(self.fn, self._lines, None if known is None else known.text)

    @property
    def raw_src(self) -> list[str]:
        """The lines of the source, decorators included."""
        return inspect.getsourcelines(self.fn)[0]

    @functools.cached_property
    def used_global_vals(self) -> dict:
        """The values among them, by the name of the variable and its scope. Other programs set it
        to None before they pickle the function, as they do with `fn`, `__globals__` and `repr`,
        and back later."""
        return {
            (r.text, id(r.owner)): (r.value, r.owner) for r in self.references if r.is_variable()
        }

    @property
    def hash(self) -> str:
        return self.cache_key

    @hash.setter
    def hash(self, value: None) -> None:
        """Setting it to None makes it be computed again."""
        if value is not None:
            raise TileError("the hash of a function is computed, and not set")
        self._digest = None

    def is_gluon(self) -> bool:
        """Whether it says the layouts of its tensors."""
        return False

    @functools.cached_property
    def device_caches(self) -> Any:
        """The compiled kernels of each device, for programs that launch them."""
        from .specialization import DeviceCaches

        return DeviceCaches(self)

    # What programs that compile by themselves take from a function.

    @property
    def ASTSource(self) -> Any:
        from ..compiler import ASTSource

        return ASTSource

    @property
    def CompiledKernel(self) -> Any:
        from ..compiler import CompiledKernel

        return CompiledKernel

    @property
    def compile(self) -> Any:
        from ..compiler import compile

        return compile

    def create_binder(self) -> tuple:
        """An empty entry of `device_caches`."""
        from ..compiler import make_backend
        from .driver import driver
        from .specialization import make_binder

        target = driver.active.get_current_target()
        return {}, {}, target, make_backend(target), make_binder(self)

    def get_capture_scope(self) -> dict[str, Any]:
        """All that the source can refer to: globals, and what it closes over."""
        return self.__globals__ | inspect.getclosurevars(self.fn).nonlocals

    def preload(self, specialization_data: str) -> Any:
        """Compiles the kernel, ahead of its first launch, for what a hook around compiles was told
        under `compile["specialization_data"]`, in another process, say."""
        return self.launcher().preload(specialization_data)

    def _unsafe_update_src(self, new_src: str) -> None:
        """Gives the function another text, as if it had been defined with it. Its parameters stay;
        functions that call this one and were compiled keep what they were compiled with."""
        from .source import replace

        known = vars(self).setdefault("_defined", (self.fn, self._lines, self.src))
        # With the text that it was defined with it is again what it was.
        self.fn, self._lines = known[:2] if new_src == known[2] else replace(self.fn, new_src)
        for name in ("_parsed", "used_global_vals", "device_caches", "_rewritten", "_native"):
            vars(self).pop(name, None)
        self._digest = None
        self.forget_kernels()

    def __getstate__(self) -> dict[str, Any]:
        # What is found again when it is needed, or belongs to this process.
        state = dict(self.__dict__)
        for name in ("_parsed", "device_caches", "__wrapped__"):
            state.pop(name, None)
        # Where they were taken away, they stay away: without `fn` nobody finds them again.
        if state.get("used_global_vals") is not None:
            del state["used_global_vals"]
        process = ("_launcher", "_dispatcher", "_hash_lock")
        # The key stays what it is where the function cannot be found.
        digest = (self._digest[0], []) if self._digest is not None else None
        return {**state, **dict.fromkeys(process), "_digest": digest}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._hash_lock = threading.RLock()

    @entry_point
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        builder = _eager_builder()
        if builder is not None:
            return builder.call(self, args, kwargs)
        if self.module.startswith("tile.language"):
            on_host = self.__name__ == "cdiv"
            raise SemanticError(
                f"tl.{self.__name__} works only inside a function decorated with @tile.jit"
                + (f"; use tile.{self.__name__} outside" if on_host else "")
            )
        raise SemanticError(
            f"`{self.__name__}` is a kernel: launch it as {self.__name__}[grid](...); only other "
            "kernels call it directly"
        )

    def __repr__(self) -> str:
        name = self.__name__ if self.fn is None else self.fn.__qualname__
        return f"JITFunction({self.module}:{name})"

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

    @entry_point
    def make_dispatcher(self) -> Any:
        """What `kernel[grid]` asks when it is called; asked for once."""
        self._dispatcher = self.launcher().dispatcher
        return self._dispatcher

    def forget_kernels(self) -> None:
        """Looks into the cache on disk, or compiles, again at the next launch."""
        self._launcher = self._dispatcher = None

    def forget_kernel(self, kernel: Any) -> None:
        """Looks for another one at the next launch that this one was for."""
        if self._dispatcher is not None:
            self._dispatcher.forget(kernel)

    #: ``kernel[grid]``, in C++.
    __getitem__ = _C.launch.subscript  # type: ignore[assignment]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "run" in cls.__dict__ and "__getitem__" not in cls.__dict__:
            cls.__getitem__ = KernelInterface.__getitem__  # type: ignore[method-assign]

    @entry_point
    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Launches, or only compiles, the kernel."""
        if warmup:
            return self.launcher().launch(grid, args, {**kwargs, "warmup": True})
        return _C.launch.subscript(self, grid)(*args, **kwargs)

    @entry_point
    def interpret(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Runs the kernel in Python, on NumPy; see the interpreter."""
        from ..interpreter import interpret

        return interpret(self, grid, args, kwargs)

    @entry_point
    def simulate(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Runs the kernel in the simulator; returns its report."""
        from .simulate import simulate

        return simulate(self, grid, args, kwargs)


class ConstexprFunction(Copied):
    """A Python function that kernels may call on constants."""

    __tile_constexpr_function__ = True
    __tile_callable__ = True

    def __init__(self, fn: Callable) -> None:
        self.fn = fn
        self._lines = capture(fn)
        functools.update_wrapper(self, fn)

    @property
    def cache_key(self) -> str:
        """Changes when the function, or anything it uses, changes."""
        from .dependencies import digest

        with _digesting, deep_stack():
            return digest(self)[0]

    @property
    def src(self) -> str:
        """The source, from ``def`` on."""
        from .source import from_def

        return from_def(self.fn, self._lines)

    def _unsafe_update_src(self, new_src: str) -> None:
        """Gives the function another text, as if it had been defined with it."""
        from .source import define_again

        known = vars(self).setdefault("_defined", (self.fn, self._lines, self.src))
        is_first = new_src == known[2]
        self.fn, self._lines = known[:2] if is_first else define_again(self.fn, new_src)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"ConstexprFunction({self.fn.__module__}:{self.fn.__qualname__})"

    def __get__(self, instance: Any, owner: type | None = None) -> ConstexprFunction:
        """Methods of constants."""
        return self if instance is None else ConstexprFunction(types.MethodType(self.fn, instance))


def constexpr_function(fn: Callable) -> ConstexprFunction:
    """Lets kernels call a Python function on constants, while they compile."""
    return ConstexprFunction(fn)


def check_decorated(fn: Any) -> None:
    """Refuses what cannot become a kernel or a function that kernels call."""
    if hasattr(fn, "configs") or isinstance(fn, KernelInterface):
        raise TileError(
            f"@tile.jit stands above @{type(fn).__name__}: the decorators go the other way "
            "round, with @tile.jit next to the `def`"
        )
    if not callable(fn) or not hasattr(fn, "__code__"):
        raise TileError(f"@tile.jit decorates functions, not {fn!r}")
    name = fn.__name__
    if name == "<lambda>":
        raise TileError("@tile.jit decorates functions that are defined with `def`, not lambdas")
    if hasattr(fn, "__wrapped__"):
        raise TileError(
            f"`{name}` is wrapped by another decorator, whose code would be compiled in its "
            "place; put @tile.jit next to the `def`"
        )


def decorate(cls: type[JITFunction], fn: Callable | None, **options: Any) -> Any:
    """Makes a function of the class `cls` of a Python function; a decorator that does without."""

    def make(fn: Callable) -> JITFunction:
        check_decorated(fn)
        return cls(fn, **options)

    return make if fn is None else make(fn)


@entry_point
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
    types of its arguments and for constants (``tl.constexpr`` parameters). It
    is also compiled for whether pointers and integers are multiples of 16, and
    whether integers are 1. This is not done for parameters that
    `do_not_specialize` lists.
    """

    return decorate(
        JITFunction, fn, version=version, repr=repr, launch_metadata=launch_metadata,
        do_not_specialize=do_not_specialize,
        do_not_specialize_on_alignment=do_not_specialize_on_alignment,
        debug=debug, noinline=noinline,
    )  # fmt: skip


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
    """A tensor whose elements are read as another type, of the same size. It has of a tensor what
    does not look at the elements."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.base = base
        self.dtype = dtype
        self.shape = base.shape
        self.is_cuda = getattr(base, "is_cuda", False)
        self.device = getattr(base, "device", None)
        self._data: Any = None

    @property
    def data(self) -> Any:
        """What the elements of a tensor are changed through; of an array, this."""
        if self._data is None and hasattr(self.base, "data_ptr"):
            return self.base.data
        return self if self._data is None else self._data

    @data.setter
    def data(self, value: Any) -> None:
        self._data = value

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def data_ptr(self) -> int:
        from .specialize import address_of

        return address_of(self.base)

    def element_size(self) -> int:
        from .specialize import item_size

        return item_size(self.base)

    def stride(self, *dim: int) -> Any:
        if hasattr(self.base, "stride"):
            return self.base.stride(*dim)
        strides = tuple(stride // self.element_size() for stride in self.base.strides)
        return strides[dim[0]] if dim else strides

    def size(self, *dim: int) -> Any:
        return self.shape[dim[0]] if dim else self.shape

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return math.prod(self.shape)

    def is_contiguous(self, *args: Any, **kwargs: Any) -> bool:
        if hasattr(self.base, "is_contiguous"):
            return self.base.is_contiguous(*args, **kwargs)
        return self.base.flags.c_contiguous

    def untyped_storage(self) -> Any:
        return self.base.untyped_storage()

    # What makes other tensors, of the same type.

    def cpu(self) -> TensorWrapper:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def to(self, *args: Any, **kwargs: Any) -> TensorWrapper:
        """On another device."""
        return TensorWrapper(self.base.to(*args, **kwargs), self.dtype)

    def clone(self) -> TensorWrapper:
        copy = self.base.clone if hasattr(self.base, "clone") else self.base.copy
        return TensorWrapper(copy(), self.dtype)

    def contiguous(self) -> TensorWrapper:
        return TensorWrapper(self.base.contiguous(), self.dtype)

    def new_empty(self, *size: Any, **kwargs: Any) -> TensorWrapper:
        return TensorWrapper(self.base.new_empty(*size, **kwargs), self.dtype)

    def new_zeros(self, *size: Any, **kwargs: Any) -> TensorWrapper:
        return TensorWrapper(self.base.new_zeros(*size, **kwargs), self.dtype)

    def copy_(self, other: Any) -> TensorWrapper:
        source = other.base if isinstance(other, TensorWrapper) else other
        if hasattr(self.base, "copy_"):
            self.base.copy_(source)
        else:
            self.base[...] = source
        return self

    def zero_(self) -> TensorWrapper:
        if hasattr(self.base, "zero_"):
            self.base.zero_()
        else:
            self.base[...] = 0
        return self

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """The same memory, with its elements read as another type."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr") or hasattr(tensor, "__array_interface__"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"cannot reinterpret a {type(tensor).__name__}")
