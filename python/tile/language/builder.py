"""What the language asks of the builder that its operations go through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .dtypes import dtype


class Builder(Protocol):
    """The compiler's creates operations, the interpreter's computes what they stand for.

    Types, attributes and handles are the builder's own: the language only hands them back.
    """

    #: Whether handles are values: the language then knows what the kernel computes with.
    eager: bool
    #: The options of the compile or the launch.
    options: Any
    #: How many functions of single elements are being run; they have no effects.
    in_region: int

    # Types and attributes.

    def new_block(self, element_ty: dtype, shape: Sequence[int]) -> dtype:
        """The type of a block whose layout, in the language that has some, nothing decides yet."""

    def type(self, ty: dtype) -> Any: ...

    def int_attr(self, width: int, value: int) -> Any: ...

    def bool_attr(self, value: bool) -> Any: ...

    def str_attr(self, value: str) -> Any: ...

    def unit_attr(self) -> Any: ...

    def i32_array_attr(self, values: Sequence[int]) -> Any: ...

    # Operations.

    def constant(self, type: Any, value: Any) -> Any: ...

    def create_one(
        self, name: str, operands: Sequence[Any], attributes: Any = None, result_types: Any = None
    ) -> Any:
        """The only result of a new operation. Types that are not given follow from the operands."""

    def create(
        self,
        name: str,
        operands: Sequence[Any],
        attributes: Any = None,
        result_types: Any = None,
        regions: Sequence[Any] = (),
    ) -> list[Any]:
        """The results of a new operation."""

    def combine(
        self,
        function: Any,
        types: list[dtype],
        terminator: str,
        arguments: Callable[[list[Any]], list[Any]],
        results: Callable[[Any], list[Any]],
    ) -> tuple[Any, list[dtype]]:
        """A region that calls a function of the user's on scalars of these types.

        The types of what it returns come with it. They are known at the latest when the operation
        has been created. `arguments` are what the function takes for these scalars. `results` are
        the scalars of what it returns; it raises for what the operation cannot use.
        """

    def hint(self, name: str, input: Any, values: list[int]) -> Any:
        """Takes note of what `tl.multiple_of` and its like promise about a tensor; returns the handle
        of which it is known."""
