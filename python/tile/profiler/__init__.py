"""A profiler of kernels: on a GPU, and in the simulator.

    import tile.profiler as proton

    session = proton.start("run", hook="triton")
    with proton.scope("step", metrics={"flops": 2 * M * N * K}):
        kernel[grid](...)
    proton.finalize()                  # run.hatchet, which `tile view run.hatchet` shows

See docs/howto/profile-a-kernel.md.
"""

from . import context, data, flags, hooks, language, metric, mode, specs
from .profile import DEFAULT_PROFILE_NAME, activate, deactivate, finalize, profile, start
from .rocm import configure_runtime
from .scope import cpu_timed_scope, enter_scope, exit_scope, scope
from .state import enter_state, exit_state, metadata_state, state

__all__ = [
    "DEFAULT_PROFILE_NAME", "activate", "configure_runtime", "context", "cpu_timed_scope", "data",
    "deactivate", "enter_scope", "enter_state", "exit_scope", "exit_state", "finalize", "flags",
    "hooks", "language", "metadata_state", "metric", "mode", "profile", "scope", "specs", "start",
    "state",
]  # fmt: skip
