"""A debugger for kernels in the simulator: on a terminal, and for editors (`tile debug`)."""

from __future__ import annotations

from .session import Debugger, Front, Kernel, Quit, Request, Session
from .stop import Stop

__all__ = ["Debugger", "Front", "Kernel", "Quit", "Request", "Session", "Stop"]
