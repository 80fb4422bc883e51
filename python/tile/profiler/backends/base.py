"""What a backend of the profiler provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core.session import Session
    from ..core.sessions import Sessions


class Backend(ABC):
    """Where records of kernels come from."""

    name: str
    #: What `device_type` says of kernels.
    device_type: str
    #: Whether traces show scopes of the host and launches, where there is something inside kernels.
    shows_launches: bool = True

    @abstractmethod
    def start(self, mode: Any) -> None:
        """The first session starts it; further ones find it running. Raises for a mode that it does
        not have."""

    @abstractmethod
    def stop(self) -> None:
        """The last session was finalized."""

    def hooks(self, mode: Any) -> list[Any]:
        """The hooks that sessions with this backend have."""
        return []

    def changed(self, epoch: int, active: Sequence[Session]) -> None:  # noqa: B027
        """Other sessions are active from now on, or in another phase."""

    def collect(self, sessions: Sessions, wait: bool) -> None:  # noqa: B027
        """Gives the sessions what it recorded; with `wait`, all that was launched until now."""

    def pending(self, epochs: Sequence[int]) -> bool:
        """Whether kernels that were launched in these epochs are still to be recorded."""
        return False

    def defer(self, node: int, epoch: int, metrics: dict[str, Any]) -> bool:
        """Metrics of a launch that is captured count for each replay: the backend keeps them, and
        this is true."""
        return False

    def defer_tensors(
        self, node: int, epoch: int, tensors: dict[str, Any], kernel: str | None
    ) -> bool:
        """The same for tensors, of a launch of `kernel` or of a scope."""
        return False

    def why_empty(self) -> str:
        """Why a program's kernels were not recorded, as far as is known."""
        return "the program launched none that the profiler sees"

    def devices(self) -> dict[str, Any]:
        """The devices that kernels ran on."""
        return {}

    def about(self) -> dict[str, Any]:
        """What a trace says about itself."""
        return {}


#: Backends of this process, made when they are asked for.
_MADE: dict[str, Backend] = {}


def make_once(name: str, make: Callable[[], Backend]) -> Backend:
    found = _MADE.get(name)
    if found is None:
        found = _MADE[name] = make()
    return found
