"""``kernel.simulate``: a launch in the simulator that returns its report."""

from __future__ import annotations

from typing import Any

from .. import _C
from .launcher import Launcher, with_mode, without_tensor_maps
from .runner import make_launch


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

    while True:
        kernel = launcher.prepare(simulator, values, options)
        launch = make_launch(kernel, simulator)
        result = launch(x, y, z, 0, launcher.arguments(kernel, values), **extra)
        if result.__class__ is not int or result != _C.launch.NO_TENSOR_MAP:
            break
        without = without_tensor_maps(simulator, kernel, options)
        if options == without:
            break
        options = without
    if result.__class__ is int:
        # The program names a tensor map itself, so that no other kernel does without.
        simulator.raise_launch_error(result, launcher.name)
    return result
