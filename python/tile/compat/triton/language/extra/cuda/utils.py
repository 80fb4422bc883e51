"""Facts about the running program."""

from tile.language.extra.cuda import globaltimer, num_threads, num_warps, smid

__all__ = ["globaltimer", "num_threads", "num_warps", "smid"]
