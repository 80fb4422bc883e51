"""What ``triton.runtime.autotuner`` has beside our own names."""

from triton._C.libtriton import (
    get_cache_invalidating_env_vars as get_cache_invalidating_env_vars,
)

from tile.runtime.driver import driver as driver
