"""The hook `triton`: a kernel's `launch_metadata` names its launches, and measures them."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Any

from .. import tensor_metrics
from ..core.sessions import sessions
from ..core.threads import new_id, threads
from ..metric import transform_tensor_metrics
from ..state import COMPUTE_METADATA_SCOPE_NAME
from .hook import Hook, HookManager

#: The number and the name of the launch that this thread is in, or was in last.
id: ContextVar[int | None] = ContextVar("id", default=None)
op_name: ContextVar[str | None] = ContextVar("op_name", default=None)
#: Whether the metadata of a launch is being computed: launches in there are bookkeeping.
in_hook: ContextVar[bool] = ContextVar("in_hook", default=False)
#: What hooks are told of every launch; the rest are metrics.
_OF_EVERY_LAUNCH = frozenset({"name", "function", "stream"})


class LaunchHook(Hook):
    """There is one, whoever makes it."""

    priority = 100
    hears_all_launches = False
    _made: LaunchHook | None = None

    def __new__(cls) -> LaunchHook:
        if cls._made is None:
            cls._made = super().__new__(cls)
            cls._made.configure()
        return cls._made

    _include: re.Pattern | None
    _exclude: re.Pattern | None
    _wants_all: bool
    #: For an epoch, the sessions that have the hook.
    _known: tuple[int, int] = (-1, 0)

    def configure(self, *, include: str | None = None, exclude: str | None = None) -> None:
        """Only kernels whose name begins with what `include` matches, and not with what `exclude`
        does."""
        self._include = re.compile(include) if include is not None else None
        self._exclude = re.compile(exclude) if exclude is not None else None
        self._wants_all = include is None and exclude is None

    def activate(self) -> None:
        pass

    def deactivate(self) -> None:
        pass

    def init_handle(self, *args: Any) -> None:
        pass

    def _is_wanted(self, name: str) -> bool:
        if self._include is not None and not self._include.match(name):
            return False
        return self._exclude is None or not self._exclude.match(name)

    def _sessions(self, epoch: int) -> int:
        """The sessions that see the names of launches, as bits."""
        if self._known[0] != epoch:
            mine = set(HookManager.sessions_of(self))
            bits = sum(s.bit for s, _ in sessions.in_epoch(epoch) if s.id in mine)
            self._known = (epoch, bits)
        return self._known[1]

    def enter(self, metadata: Any) -> None:
        kernel = metadata.data["name"]
        if in_hook.get() or not (self._wants_all or self._is_wanted(kernel)):
            return
        if getattr(metadata, "extras", True):
            in_hook.set(True)
            back = threads.enter_states(COMPUTE_METADATA_SCOPE_NAME, kernel)
            try:
                told = metadata.get()
            except BaseException:
                threads.leave_states(2, *back)
                raise
            finally:
                in_hook.set(False)
            name, epoch = told["name"], sessions.epoch
            place = threads.from_states_to_launch(2, *back, name, self._sessions(epoch))
        else:  # There is nothing to compute.
            told = metadata.data
            name, epoch = told["name"], sessions.epoch
            place = threads.enter_launch(name, self._sessions(epoch))
        node, *metadata.back = place
        id.set(new_id())
        op_name.set(name)
        if len(told) == len(_OF_EVERY_LAUNCH):
            return
        metrics = {n: v for n, v in told.items() if n not in _OF_EVERY_LAUNCH}
        numbers, tensors = transform_tensor_metrics(metrics)
        sessions.add_launch_metrics(node, epoch, numbers)
        if tensors:
            tensor_metrics.add(node, epoch, tensors, kernel)

    def exit(self, metadata: Any) -> None:
        back = metadata.__dict__.pop("back", None)
        if back is not None:
            threads.leave_launch(*back)


__all__ = ["COMPUTE_METADATA_SCOPE_NAME", "LaunchHook", "id", "in_hook", "op_name"]
