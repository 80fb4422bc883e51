"""Run by tile-compat.pth in every process whose environment has TILE_COMPAT=1:
``import triton`` then gives tile. Nothing of tile is loaded before that."""

import sys


class Deferred:
    """Waits for the first thing that asks for triton, and lets tile answer."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] != "triton":
            return None
        return self.finder().find_spec(fullname, path, target)

    def find_distributions(self, context):
        if context.name != "triton":
            return []
        return self.finder().find_distributions(context)

    def finder(self):
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        import tile.compat

        tile.compat.install()
        return sys.meta_path[0]


sys.meta_path.insert(0, Deferred())
