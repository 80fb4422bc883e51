"""Autotuning: trying configurations, and remembering the best."""

from __future__ import annotations

import functools
import threading
import time
import warnings
from collections.abc import Callable, Container
from typing import Any

from .. import knobs
from ..errors import AutotunerError, CompilerToolError, OptionError, OutOfResources, TileError
from ..tracebacks import entry_point
from .definition import check_kernel
from .driver import driver
from .jit import JITFunction, KernelInterface
from .tuning import (
    ENOUGH_CALLS,
    UNUSABLE,
    ChoiceFile,
    choose,
    compare,
    compile_ahead,
    estimate,
    make_choice,
    progress,
    said_in_a_line,
    same_code,
)

#: Keywords of older releases, about how loops are specialised: the compiler decides that now.
_OLD_KEYWORDS = {
    "enable_warp_specialization", "enable_persistent", "num_buffers_warp_spec",
    "num_consumer_groups", "reg_dec_producer", "reg_inc_consumer",
}  # fmt: skip
#: Keywords of `Config` beside the constants.
_OPTIONS_OF_CONFIGS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook", "ir_override")


class Config:
    """One configuration: values of constants, and options of the compile."""

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable | None = None,
        ir_override: str | None = None,
        **old: Any,
    ) -> None:
        if unknown := old.keys() - _OLD_KEYWORDS:
            from ..hints import closest

            like = closest(min(unknown), _OPTIONS_OF_CONFIGS)
            raise TypeError(f"Config takes no keyword `{min(unknown)}`{like}")
        if not isinstance(kwargs, dict):
            raise TileError(f"a Config has the values of constants by their names, not {kwargs!r}")
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self) -> dict[str, Any]:
        options = {
            "num_warps": self.num_warps,
            "num_stages": self.num_stages,
            "num_ctas": self.num_ctas,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def _key(self) -> tuple:
        return (tuple(sorted(self.all_kwargs().items(), key=lambda item: item[0])), self.pre_hook)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(repr(self._key()))

    def __str__(self) -> str:
        return ", ".join(f"{k}: {v}" for k, v in self.all_kwargs().items())

    __repr__ = __str__


#: What ends the measurement of one configuration, and not the tuning: the others may do.
_CANNOT_RUN = (OutOfResources, CompilerToolError, OptionError)


class _OfRun:
    """An attribute of an autotuner that belongs to a run: each thread has its own."""

    def __init__(self, default: Callable[[], Any], is_result: bool = False) -> None:
        self.default = default
        #: Whether a thread that ran nothing sees what the last run of any thread left.
        self.is_result = is_result

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, tuner: Any, owner: type | None = None) -> Any:
        if tuner is None:
            return self
        value = _own(tuner).get(self.name)
        if value is None and self.is_result:
            value = vars(tuner).get(self.name)
        return self.default() if value is None else value

    def __set__(self, tuner: Any, value: Any) -> None:
        _own(tuner)[self.name] = value
        if self.is_result:
            vars(tuner)[self.name] = value


def _own(tuner: Any) -> dict[str, Any]:
    """What a thread has of an autotuner."""
    attributes = tuner.__dict__
    threads = attributes.get("_threads")
    if threads is None:  # A new one, a copy, or one from another process.
        threads = attributes.setdefault("_threads", threading.local())
    return threads.__dict__


class _Run:
    """A context manager around one run of a tuned kernel. It sets the state of the run, such as
    the positional arguments, and puts the old state back: a hook may run the same kernel again."""

    def __init__(self, tuner: Any, args: tuple) -> None:
        self.own = _own(tuner)
        self.state = {
            "nargs": dict(zip(tuner.arg_names, args, strict=False)), "restore_copies": None,
            "_refusals": {},
        }  # fmt: skip

    def __enter__(self) -> dict[str, Any]:
        own = self.own
        self.outer = {name: own.get(name) for name in self.state}
        own.update(self.state)
        return self.state["nargs"]

    def __exit__(self, *error: Any) -> None:
        self.own.update(self.outer)


class Autotuner(KernelInterface):
    """A kernel whose constants are chosen by measuring.

    Libraries derive from it: they call `prune_configs`, `_bench` and
    `check_disk_cache`, replace `pre_hook`, `post_hook` and `cache`, and read what
    a run leaves in `best_config`, `configs_timings` and `bench_time`.

    Threads may launch it at the same time. Those that come before a choice is known measure by
    themselves.
    """

    #: The positional arguments by name, during a run.
    nargs = _OfRun(lambda: None)
    #: Copies of the arguments to restore, while a configuration is measured.
    restore_copies = _OfRun(dict)
    #: Why configurations could not run, in the tuning of this run.
    _refusals = _OfRun(dict)
    best_config = _OfRun(lambda: None, is_result=True)
    configs_timings = _OfRun(dict, is_result=True)
    bench_time = _OfRun(float, is_result=True)

    def __init__(
        self,
        fn: Any,
        arg_names: list[str],
        configs: list[Config],
        key: list[str],
        reset_to_zero: list[str] | None = None,
        restore_value: list[str] | None = None,
        pre_hook: Callable | None = None,
        post_hook: Callable | None = None,
        prune_configs_by: dict[str, Any] | None = None,
        warmup: int | None = None,
        rep: int | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable | None = None,
        cache_results: bool = False,
    ) -> None:
        self.fn = fn
        self.arg_names = arg_names
        self.configs = list(configs)
        #: The list whose configurations choose `_names`.
        self._names_of: list[Config] | None = None
        self._names: frozenset[str] = frozenset()
        if not self.configs:
            raise TileError("autotune needs at least one configuration; `configs` is empty")
        for config in self.configs:
            if not hasattr(config, "all_kwargs"):
                raise TileError(f"autotune chooses among tile.Config objects, not {config!r}")
        if isinstance(key, str):
            raise TileError(f"autotune's key is a list of names of parameters, not {key!r}")
        for name in key:
            if name not in arg_names:
                self._refuse_key(str(name))
        self.keys = key
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        #: Called before each run that is measured, and once with ``reset_only=True``
        #: when a configuration was chosen; the user's takes the place of ours.
        self.pre_hook: Callable = pre_hook or self._prepare_arguments
        self.post_hook: Callable = post_hook or self._restore_arguments
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        prune = prune_configs_by or {}
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        #: Milliseconds before and while measuring; None for the usual ones, of short kernels less.
        self.num_warmups = warmup
        self.num_reps = rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench
        self.cache_results = cache_results or (do_bench is None and knobs.autotuning.cache)
        self.cache: Any = {}
        while not hasattr(fn, "params") and hasattr(fn, "fn"):
            fn = fn.fn
        #: The jit function, and the Python function, under all decorators. Where programs bring a
        #: class of their own for kernels, there may be nothing but the function.
        self.kernel = fn
        self.base_fn = getattr(fn, "fn", fn)
        self.__name__ = fn.__name__

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_threads"}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fn!r}, {len(self.configs)} configurations)"

    @functools.cached_property
    def do_bench(self) -> Callable:
        if self._do_bench is not None:
            return self._do_bench
        from .. import testing

        warmup = 25 if self.num_warmups is None else self.num_warmups
        rep = 100 if self.num_reps is None else self.num_reps
        if self.use_cuda_graph:
            return functools.partial(testing.do_bench_cudagraph, rep=rep)
        if self.num_reps is not None:
            return functools.partial(testing.do_bench, warmup=warmup, rep=rep)
        return functools.partial(
            testing._bench_calls, warmup=warmup, rep=rep, max_calls=ENOUGH_CALLS
        )

    def _refuse_key(self, name: str) -> None:
        """Libraries written for Triton have such keys: it ignores them."""
        from ..hints import closest

        known = self.arg_names
        message = (
            f"autotune's key names `{name}`, which is not a parameter of the kernel; its "
            f"parameters are {', '.join(known)}{closest(name, known)}"
        )
        if not knobs.compat.enable:
            raise TileError(message)
        warnings.warn(message, stacklevel=4)

    # Hooks.

    def _prepare_arguments(self, arguments: dict[str, Any], reset_only: bool = False) -> None:
        """Zeroes what has to start from zero, and copies what is restored later."""
        for name in self.reset_to_zero:
            if arguments[name] is not None:
                _fill(arguments[name], 0)
        if not reset_only:
            values = {name: arguments[name] for name in self.restore_value}
            self.restore_copies = {n: _copy(v) for n, v in values.items() if v is not None}

    def _restore_arguments(self, arguments: dict[str, Any], exception: Any) -> None:
        for name, value in self.restore_copies.items():
            _fill(arguments[name], value)
        self.restore_copies = {}

    # Running.

    @entry_point
    def run(self, *args: Any, **kwargs: Any) -> Any:
        self._refuse_overridden(self._chosen_names(), kwargs)
        with _Run(self, args) as named:
            config = self.configs[0]
            if len(self.configs) > 1:
                config = self._choose(named, args, kwargs)
            self.best_config = config
            chosen = {**kwargs, **config.all_kwargs()}
            if config.pre_hook is not None:
                config.pre_hook({**named, **chosen})
            return self.fn.run(*args, **chosen)

    def _chosen(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords of a run without a device: those of the first configuration that
        pruning leaves."""
        self._refuse_overridden(self._chosen_names(), kwargs)
        with _Run(self, args) as named:
            config = self.prune_configs(kwargs)[0]
            chosen = {**kwargs, **config.all_kwargs()}
            if config.pre_hook is not None:
                config.pre_hook({**named, **chosen})
            return chosen

    @entry_point
    def interpret(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Runs the kernel with one configuration in Python; see the interpreter."""
        return self.fn.interpret(*args, grid=grid, **self._chosen(args, kwargs))

    @entry_point
    def simulate(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Runs the kernel with one configuration in the simulator; returns its report."""
        return self.fn.simulate(*args, grid=grid, **self._chosen(args, kwargs))

    def _choose(self, named: dict[str, Any], args: tuple, kwargs: dict[str, Any]) -> Config:
        """The configuration for a launch, one of several."""
        key = self.key_of({**named, **kwargs})
        if key in self.cache:
            return self.cache[key]
        if knobs.interpreting():
            # How long the interpreter takes says nothing.
            return self.prune_configs(kwargs)[0]
        return self._tune(key, args, kwargs)

    def key_of(self, arguments: dict[str, Any]) -> tuple:
        """What the choice depends on: the key's values, and all types."""
        known = {name: value for name, value in arguments.items() if name in self.arg_names}
        values = [known[name] for name in self.keys if name in known]
        types = [str(value.dtype) for value in known.values() if hasattr(value, "dtype")]
        return (*values, *types)

    def _tune(self, key: tuple, args: tuple, kwargs: dict[str, Any]) -> Config:
        """Measures, and remembers the best under the key."""
        configs = self.prune_configs(kwargs)
        if len(configs) == 1:  # There is nothing to compare it with.
            self.cache[key] = configs[0]
            return configs[0]

        def measure() -> None:
            start = time.perf_counter()
            timings = self._compare(configs, args, kwargs)
            self.bench_time = time.perf_counter() - start
            best = choose(timings)
            if timings[best][0] == UNUSABLE:
                raise self._none_can_run(configs)
            self.cache[key] = best
            self.configs_timings = timings
            arguments = {**(self.nargs or {}), **kwargs, **best.all_kwargs()}
            self.pre_hook(arguments, reset_only=True)

        known = self.cache_results and self.check_disk_cache(key, configs, measure)
        if not self.cache_results:
            measure()
        if knobs.autotuning.print:
            how = "known already" if known else f"took {self.bench_time:.2f} s"
            print(f"Autotuning {self.__name__} with key {key} {how}; best: {self.cache[key]}")
        if (listener := knobs.autotuning.listener) is not None:
            listener(
                fn=self._jit_function(), key=key, best_config=self.cache[key],
                configs_timings=self.configs_timings, cache_hit=bool(known),
                duration=None if known else self.bench_time,
            )  # fmt: skip
        return self.cache[key]

    def _jit_function(self) -> Any:
        fn = self.fn
        while not isinstance(fn, JITFunction):
            fn = fn.fn
        return fn

    def _none_can_run(self, configs: list[Config]) -> TileError:
        """The error of a kernel without a configuration that can run, with the reasons."""
        text = f"none of the {len(configs)} configurations of `{self.__name__}` can run"
        reasons = [f"  {c}: {self._refusals[c]}" for c in configs if c in self._refusals]
        return TileError("\n".join([text, *reasons]))

    def _compare(
        self, configs: list[Config], args: tuple, kwargs: dict[str, Any]
    ) -> dict[Config, list[float]]:
        """The times of all configurations."""
        # What a hook does to the arguments, it does when a configuration is measured.
        ahead = [c for c in configs if c.pre_hook is None]
        twins: dict[Config, Config] = {}
        if len(ahead) > 1 and hasattr(self.fn, "warmup"):
            given = {name: value for name, value in kwargs.items() if name != "warmup"}
            kernels = compile_ahead(
                {
                    c: functools.partial(self.fn.warmup, *args, **{**given, **c.all_kwargs()})
                    for c in ahead
                }
            )
            twins = same_code(kernels)
        look = None
        if self._can_look():
            look = functools.partial(self._time, args, kwargs, self._short_bench)
        measure = functools.partial(self._measure, args, kwargs)
        with progress(self.__name__, len(configs) - len(twins)) as report:
            timings = compare([c for c in configs if c not in twins], look, measure, report)
        return {c: timings[twins.get(c, c)] for c in configs}

    def _measure(self, args: tuple, kwargs: dict[str, Any], config: Config) -> list[float]:
        return self._bench(*args, config=config, **kwargs)

    def _can_look(self) -> bool:
        """Whether times are those of a device, by our own function."""
        own = self._do_bench is None and type(self)._bench is Autotuner._bench
        return own and not self.use_cuda_graph and not self._is_simulated()

    def _is_simulated(self) -> bool:
        return self._do_bench is None and getattr(driver.active, "name", "") == "sim"

    @staticmethod
    def _short_bench(call: Callable, quantiles: Any) -> Any:
        from .. import testing

        return testing.do_bench(call, warmup=1, rep=5, quantiles=quantiles)

    @staticmethod
    def _estimate(call: Callable, quantiles: Any) -> float:
        """Stands for a measurement where there is no GPU."""
        with driver.active.ranking():
            call()
        return estimate(driver.active.last_report)

    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]:
        """The configurations that are worth measuring for the current arguments."""
        named = self.nargs or {}
        configs = self.configs
        if self.early_config_prune is not None:
            configs = list(self.early_config_prune(configs, named, **kwargs))
            if not configs:
                raise AutotunerError(
                    "No valid autotuner configs after pruning. `early_config_prune` should return "
                    "at least one config."
                )
        if self.perf_model is not None:
            top = self.configs_top_k
            count = int(len(configs) * top) if isinstance(top, float) and top <= 1.0 else int(top)
            if len(configs) > count:
                model = self.perf_model
                estimates = {c: model(**named, **kwargs, **c.all_kwargs()) for c in configs}
                configs = sorted(configs, key=lambda c: estimates[c])[: max(1, count)]
        return configs

    def _bench(self, *args: Any, config: Config, **meta: Any) -> list[float]:
        """The median, 20% and 80% of the time of a configuration, in milliseconds;
        infinite where it cannot run."""
        bench = self._estimate if self._is_simulated() else self.do_bench
        return self._time(args, meta, bench, config)

    def _chosen_names(self) -> frozenset[str]:
        """What configurations choose. Each launch asks, and libraries replace the list."""
        if self._names_of is not self.configs:
            self._names = frozenset(name for config in self.configs for name in config.kwargs)
            self._names_of = self.configs
        return self._names

    def _refuse_overridden(self, names: Container[str], meta: dict[str, Any]) -> None:
        """Refuses a keyword of a launch that a configuration would override."""
        for name in meta:
            if name in names:
                raise TileError(
                    f"`{name}` is chosen by autotuning; do not pass it to `{self.__name__}`"
                )

    def _time(
        self, args: tuple, meta: dict[str, Any], bench: Callable, config: Config
    ) -> list[float]:
        self._refuse_overridden(config.kwargs, meta)
        current = {**meta, **config.all_kwargs()}
        arguments = {**(self.nargs or {}), **current}

        def call() -> None:
            if config.pre_hook is not None:
                config.pre_hook(arguments)
            self.pre_hook(arguments)
            try:
                self.fn.run(*args, **current)
            except BaseException as error:  # Ctrl-C too: the arguments are restored.
                self.post_hook(arguments, exception=error)
                raise
            self.post_hook(arguments, exception=None)

        try:
            result = bench(call, quantiles=(0.5, 0.2, 0.8))
        except _CANNOT_RUN as error:
            self._refusals[config] = said_in_a_line(error)
            return [UNUSABLE] * 3
        return list(result) if isinstance(result, (list, tuple)) else [result] * 3

    def check_disk_cache(
        self, tuning_key: tuple, configs: list[Config], bench_fn: Callable[[], None]
    ) -> bool:
        """Takes the choice of an earlier process; measures and stores it where there
        is none. True if it was there."""
        file = self._choice_file(tuning_key, configs)
        if file is None:
            bench_fn()
            return False
        choice = file.read()
        found = None
        if choice is not None:
            found = next((c for c in configs if str(c) == choice.best), None)
        if choice is not None and found is not None:
            self.cache[tuning_key] = found
            self.configs_timings = choice.timings(configs)
            return True
        bench_fn()
        timings = self.configs_timings
        if timings:
            how = "estimated" if self._is_simulated() else "measured"
            device = str(driver.active.get_current_target())
            file.write(
                make_choice(self.__name__, tuning_key, device, how, timings, self.bench_time)
            )
        return False

    def _choice_file(self, key: tuple, configs: list[Config]) -> ChoiceFile | None:
        # What a hook does is not in the file.
        if any(config.pre_hook for config in configs):
            return None
        from ..backends import find_backend
        from ..compiler.key import compiler_key

        active = driver.active
        target = active.get_current_target()
        device = active.device_properties(active.get_current_device())
        parts = [
            compiler_key(), self.kernel.cache_key, find_backend(target).hash(), active.name,
            repr(sorted(device.items())), repr(key), *map(str, configs),
        ]  # fmt: skip
        return ChoiceFile(self.__name__, parts)

    @entry_point
    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Compiles every configuration that can run for these arguments, without launching."""
        kernels = []
        with _Run(self, args):
            configs = self.prune_configs(kwargs)
            for config in configs:
                try:
                    kernels.append(self.fn.warmup(*args, **{**kwargs, **config.all_kwargs()}))
                except _CANNOT_RUN as error:
                    self._refusals[config] = said_in_a_line(error)
            if not kernels:
                raise self._none_can_run(configs)
        return kernels


def _copy(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


def _fill(target: Any, value: Any) -> None:
    if hasattr(target, "copy_") and hasattr(value, "shape"):
        target.copy_(value)
    elif hasattr(target, "zero_"):
        target.zero_()
    else:
        target[...] = value


class Heuristics(KernelInterface):
    """A kernel some of whose constants follow from its arguments."""

    def __init__(self, fn: Any, arg_names: list[str], values: dict[str, Callable]) -> None:
        for name, value in values.items():
            if not callable(value):
                raise TileError(
                    f"heuristics compute `{name}` by a function of all arguments, not {value!r}"
                )
        self.fn = fn
        self.arg_names = arg_names
        self.values = values
        self.__name__ = getattr(fn, "__name__", "kernel")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fn!r}, {', '.join(self.values)})"

    @entry_point
    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn.run(*args, **self._with_heuristics(args, kwargs))

    def _with_heuristics(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        named = {**dict(zip(self.arg_names, args, strict=False)), **kwargs}
        for name, heuristic in self.values.items():
            named[name] = kwargs[name] = heuristic(named)
        return kwargs

    @entry_point
    def interpret(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Runs the kernel in Python; see the interpreter."""
        return self.fn.interpret(*args, grid=grid, **self._with_heuristics(args, kwargs))

    @entry_point
    def simulate(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Runs the kernel in the simulator; returns its report."""
        return self.fn.simulate(*args, grid=grid, **self._with_heuristics(args, kwargs))


def _check_decorated(fn: Any, decorator: str) -> None:
    if isinstance(fn, JITFunction):
        check_kernel(fn)
    elif not hasattr(fn, "arg_names"):
        raise TileError(
            f"@tile.{decorator} decorates kernels, not {fn!r}: put @tile.jit below it, next to "
            "the `def`"
        )


def autotune(
    configs: list[Config],
    key: list[str],
    prune_configs_by: dict[str, Any] | None = None,
    reset_to_zero: list[str] | None = None,
    restore_value: list[str] | None = None,
    pre_hook: Callable | None = None,
    post_hook: Callable | None = None,
    warmup: int | None = None,
    rep: int | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable | None = None,
    cache_results: bool = False,
) -> Callable:
    """Chooses among `configs` by measuring, again whenever an argument named
    in `key` has another value."""

    @entry_point
    def decorate(fn: Any) -> Autotuner:
        _check_decorated(fn, "autotune")
        return Autotuner(
            fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook, post_hook, 
            prune_configs_by,
            warmup, rep, use_cuda_graph, do_bench, cache_results,
        )  # fmt: skip

    return decorate


def heuristics(values: dict[str, Callable]) -> Callable:
    """Computes constants from the arguments: name -> function of all of them."""

    @entry_point
    def decorate(fn: Any) -> Heuristics:
        _check_decorated(fn, "heuristics")
        return Heuristics(fn, fn.arg_names, values)

    return decorate
