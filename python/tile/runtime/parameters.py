"""The parameters of a kernel, and how arguments for them are specialised."""

from __future__ import annotations

import inspect
from typing import Any

from ..element_types import SCALAR_SIGNATURES, SIGNATURE_NAMES


class KernelParam:
    """One parameter of a kernel."""

    __slots__ = (
        "_param",
        "do_not_specialize",
        "do_not_specialize_on_alignment",
        "is_const",
        "is_constexpr",
        "num",
        "type_name",
    )

    def __init__(
        self,
        num: int,
        param: inspect.Parameter,
        do_not_specialize: bool,
        do_not_specialize_on_alignment: bool,
    ) -> None:
        self.num = num
        self._param = param
        self.is_constexpr = _is_constexpr(param.annotation)
        self.is_const = not self.is_constexpr and "const" in _text(param.annotation)
        #: The type that the signature fixes: ``n: tl.int64`` or ``n: "i64"``.
        self.type_name = _annotated_type(param.annotation)
        self.do_not_specialize = do_not_specialize
        #: Also where nothing is specialised.
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    @property
    def name(self) -> str:
        return self._param.name

    @property
    def default(self) -> Any:
        return self._param.default

    @property
    def has_default(self) -> bool:
        return self._param.default is not inspect.Parameter.empty

    @property
    def is_keyword_only(self) -> bool:
        return self._param.kind is inspect.Parameter.KEYWORD_ONLY

    @property
    def annotation(self) -> str:
        """As text; empty where there is none."""
        return "constexpr" if self.is_constexpr else self.type_name or _text(self._param.annotation)

    @property
    def annotation_type(self) -> str:
        """The type that the signature fixes, or an empty string."""
        return self.type_name or ""


def _text(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else str(_name(annotation))


def _name(annotation: Any) -> Any:
    return getattr(annotation, "__name__", None) or getattr(annotation, "name", annotation)


def _is_constexpr(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.replace(" ", "").split(".")[-1] == "constexpr"
    return (
        getattr(annotation, "__name__", None) == "constexpr"
        or type(annotation).__name__ == "constexpr"
    )


def _annotated_type(annotation: Any) -> str | None:
    if annotation is inspect.Parameter.empty:
        return None
    text = annotation if isinstance(annotation, str) else getattr(annotation, "name", None)
    if text is None:
        return None
    # Where annotations are not evaluated, a string among them has its quotes.
    text = text.strip("'\"").split(".")[-1]
    text = SIGNATURE_NAMES.get(text, text)
    return text if text in SCALAR_SIGNATURES else None
