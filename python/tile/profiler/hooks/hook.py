"""What a hook is, and which hooks of which sessions are called."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import defaultdict
from typing import Any, ClassVar

from ... import knobs


class Hook:
    """Called around launches, and where kernels are loaded. Those with a higher `priority` are
    called first on the way in, and last on the way out."""

    priority: int = 0
    #: Whether launches of kernels without a `launch_metadata` concern it.
    hears_all_launches: bool = True

    @abstractmethod
    def activate(self) -> None:
        """The first session that has it became active."""

    @abstractmethod
    def deactivate(self) -> None:
        """No session that has it is active any more."""

    @abstractmethod
    def init_handle(
        self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        """A kernel was loaded."""

    def destroy_handle(
        self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        """A kernel is about to be unloaded."""

    @abstractmethod
    def enter(self, metadata: Any) -> None:
        """Before a launch."""

    @abstractmethod
    def exit(self, metadata: Any) -> None:
        """After a launch."""


class HookManager:
    """The hooks of all sessions. A hook is called once, however many active sessions have it."""

    #: Those that are called, in this order.
    active_hooks: ClassVar[list[Hook]] = []
    #: For each session its hooks, and whether they are active.
    session_hooks: ClassVar[dict[int, dict[Hook, bool]]] = defaultdict(dict)
    _lock: ClassVar[Any] = threading.RLock()

    # Sessions.

    @classmethod
    def register(cls, hook: Hook, session: int) -> None:
        """Gives a session a hook, and activates it there."""
        with cls._lock:
            cls.session_hooks[session].setdefault(hook, False)
            cls.activate(session)

    @classmethod
    def unregister(cls, session: int | None = None) -> None:
        """Takes the hooks of a session, or of all, away."""
        with cls._lock:
            for one in cls._chosen(session):
                cls.deactivate(one)
                del cls.session_hooks[one]

    @classmethod
    def activate(cls, session: int | None = None) -> None:
        cls._set(session, True)

    @classmethod
    def deactivate(cls, session: int | None = None) -> None:
        cls._set(session, False)

    @classmethod
    def sessions_of(cls, hook: Hook) -> list[int]:
        """The sessions in which a hook is active."""
        return [s for s, hooks in list(cls.session_hooks.items()) if hooks.get(hook)]

    @classmethod
    def _chosen(cls, session: int | None) -> list[int]:
        known = list(cls.session_hooks)
        return known if session is None else [s for s in known if s == session]

    @classmethod
    def _set(cls, session: int | None, active: bool) -> None:
        with cls._lock:
            for one in cls._chosen(session):
                for hook in cls.session_hooks[one]:
                    cls.session_hooks[one][hook] = active
            wanted = {h for hooks in cls.session_hooks.values() for h, on in hooks.items() if on}
            for hook in [h for h in cls.active_hooks if h not in wanted]:
                cls.active_hooks.remove(hook)
                hook.deactivate()
            for hook in [h for h in wanted if h not in cls.active_hooks]:
                cls.active_hooks.append(hook)
                hook.activate()
            cls.active_hooks.sort(key=lambda h: -h.priority)
            cls._attach()

    @classmethod
    def _attach(cls) -> None:
        """Is called by launches only while there is a hook for them."""
        hooks = cls.active_hooks
        hears_all = any(hook.hears_all_launches for hook in hooks)
        described = bool(hooks) and not hears_all
        events = {
            "launch_enter_hook": (cls.enter, hears_all), "launch_exit_hook": (cls.exit, hears_all),
            "described_enter_hook": (cls.enter, described),
            "described_exit_hook": (cls.exit, described),
            "kernel_load_end_hook": (cls.init_handle, bool(hooks)),
            "kernel_unload_hook": (cls.destroy_handle, bool(hooks)),
        }  # fmt: skip
        for name, (call, wanted) in events.items():
            chain = getattr(knobs.runtime, name)
            (chain.add if wanted else chain.remove)(call)

    # Events.

    @classmethod
    def init_handle(
        cls, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        for hook in list(cls.active_hooks):
            hook.init_handle(module, function, name, metadata_group, hash)

    @classmethod
    def destroy_handle(
        cls, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        for hook in list(cls.active_hooks):
            hook.destroy_handle(module, function, name, metadata_group, hash)

    @classmethod
    def enter(cls, metadata: Any) -> None:
        for hook in list(cls.active_hooks):
            hook.enter(metadata)

    @classmethod
    def exit(cls, metadata: Any) -> None:
        for hook in cls.active_hooks[::-1]:
            hook.exit(metadata)
