"""The functions of the device library, which older releases have in ``triton.language.math``."""

from tile.language.arithmetic import maximum, minimum
from tile.language.extra import libdevice as libdevice
from tile.language.extra.libdevice import *  # noqa: F403

globals().update(max=maximum, min=minimum)
