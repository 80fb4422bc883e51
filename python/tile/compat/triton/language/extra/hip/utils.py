"""Facts about the running program."""

from tile.language.extra.hip import memrealtime, num_threads, num_warps, smid

__all__ = ["memrealtime", "num_threads", "num_warps", "smid"]
