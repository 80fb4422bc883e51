"""The layouts of matrix instructions, where users of Triton look for them."""

from .._amd_layouts import AMDMFMALayout, AMDWMMALayout

__all__ = ["AMDMFMALayout", "AMDWMMALayout"]
