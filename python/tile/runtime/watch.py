"""Whether what kernels were compiled with has changed since."""

from __future__ import annotations

from typing import Any

from .definition import places
from .dependencies import Reach, reach_of
from .references import Reference


class Watch:
    """What the kernels of one function were compiled with, beside their arguments."""

    def __init__(self, fn: Any, dispatcher: Any) -> None:
        self.fn = fn
        self.name = fn.__name__
        self.dispatcher = dispatcher
        #: What kernels were compiled with.
        self.references: list[Reference] = []
        #: Kernels whose constants reach into the program: what these were when it was compiled.
        self.reaching: list[tuple[Any, Reach]] = []

    def check(self) -> None:
        """Refuses to launch kernels that were compiled with other globals, or the like."""
        for reference in self.references:
            known = reference.value
            if reference.has_changed():
                from ..compiler.errors import ChangedReference

                raise ChangedReference(reference.explain(self.name), places(self.fn, None))
            if reference.value is not known:
                self.tell_dispatcher()
        self.forget_changed_constants()

    def forget_changed_constants(self) -> None:
        """Forgets kernels for constants that are not what they were: a function, say, that reads
        another global. The next launch with such a constant compiles it anew."""
        changed = [kernel for kernel, reach in self.reaching if reach.has_changed()]
        if changed:
            for kernel in changed:
                self.dispatcher.forget(kernel)
            self.reaching = [pair for pair in self.reaching if pair[0] not in changed]
            self.tell_dispatcher()

    def remember_references(self) -> None:
        """Notes what the function is being compiled with."""
        if not self.references:
            self.references = list(self.fn.references)
            self.tell_dispatcher()

    def remember_constants(self, kernel: Any, constants: dict) -> None:
        """Notes what the constants are that a kernel is compiled for."""
        reach = reach_of(constants)
        if reach is not None:
            self.reaching.append((kernel, reach))
            self.tell_dispatcher()

    def tell_dispatcher(self) -> None:
        """Tells the dispatcher when it has to ask Python whether something has changed."""
        seen = [*self.references, *(r for _, reach in self.reaching for r in reach.references)]
        self.dispatcher.set_references([r.for_dispatcher() for r in seen])
