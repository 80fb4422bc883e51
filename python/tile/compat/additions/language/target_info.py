"""What ``triton.language.target_info`` has beside our own names."""

from tile import constexpr_function as constexpr_function
from tile.runtime.driver import driver as driver
