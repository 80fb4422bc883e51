"""What an editor shows of a stop: variables, elements of tensors, registers, memory."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import TileError
from .. import text
from ..stop import Frame, Stop, masked

#: Children that are shown at once where the editor does not ask for fewer.
_MOST = 1000
Shown = dict[str, Any]


class Views:
    """Numbers for what can be opened; they are valid until the launch goes on."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self._open: list[Callable[[int, int], list[Shown]]] = []
        self.frames: list[Frame] = stop.frames

    def _reference(self, children: Callable[[int, int], list[Shown]]) -> int:
        self._open.append(children)
        return len(self._open)

    def children(self, reference: int, start: int, count: int) -> list[Shown]:
        if not 0 < reference <= len(self._open):
            raise TileError("this variable is not there any more")
        return self._open[reference - 1](start, count or _MOST)

    def scopes(self, frame: Frame) -> list[Shown]:
        stop = self.stop
        scopes = [("Locals", "locals", lambda *_: self._locals(frame), False)]
        scopes += [
            ("Arguments", "arguments", lambda *_: self._arguments(), False),
            ("Barriers and waits", "", lambda *_: self._waits(), True),
            ("Registers", "registers", lambda *_: self._registers(), True),
        ]
        if stop.shared():
            scopes.append(("Shared memory", "", self._shared, True))
        shown = []
        for name, hint, children, is_expensive in scopes:
            scope = {
                "name": name, "variablesReference": self._reference(children),
                "expensive": is_expensive,
            }  # fmt: skip
            shown.append({**scope, "presentationHint": hint} if hint else scope)
        return shown

    def value(self, name: str, value: Any, type: str = "") -> Shown:
        """Any value: an array can be opened."""
        if isinstance(value, np.ndarray) and value.ndim:
            shape = ", ".join(map(str, value.shape))
            return {
                "name": name,
                "value": np.array2string(value, threshold=8, edgeitems=3, separator=", "),
                "type": type or f"{value.dtype}[{shape}]",
                "variablesReference": self._reference(
                    lambda start, count: [
                        self.value(f"[{start + i}]", item)
                        for i, item in enumerate(value[start : start + count])
                    ]
                ),
                "indexedVariables": int(value.shape[0]),
            }
        return {
            "name": name, "value": str(value), "type": type or _type(value),
            "variablesReference": 0,
        }  # fmt: skip

    def _locals(self, frame: Frame) -> list[Shown]:
        shown = []
        for name in self.stop.names(frame):
            it = self.stop.variable(name, frame)
            if it is None:
                continue
            if it.shape is None:
                value = text.variable(self.stop, it).partition(" = ")[2]
                shown.append(
                    {"name": name, "value": value, "type": it.type, "variablesReference": 0}
                )
                continue
            one = self.value(name, masked(it), f"{it.type}{list(it.shape)}")
            one["evaluateName"] = name
            shown.append(one)
            if it.mask is not None:
                shown.append(self.value(f"{name} (mask of its load)", it.mask))
        return shown

    def _arguments(self) -> list[Shown]:
        shown = []
        for name, value in self.stop.kernel.arguments.items():
            array = self.stop.array(name)
            one = self.value(name, value if array is None else array)
            if array is not None and array.flags.c_contiguous:
                address = array.__array_interface__["data"][0]
                one["memoryReference"] = f"0x{address:x}"
            shown.append(one)
        return shown

    def _waits(self) -> list[Shown]:
        shown = []
        for line in text.waits(self.stop.waits()).splitlines():
            name, _, value = line.partition(": ")
            shown.append({"name": name, "value": value, "variablesReference": 0})
        for line in text.barriers(self.stop).splitlines():
            name, _, value = line.strip().partition(": ")
            shown.append({"name": name, "value": value, "variablesReference": 0})
        return shown

    def _registers(self) -> list[Shown]:
        shown = []
        for name in self.stop.native.register_names():
            bits = self.stop.register(name)
            if bits is not None:
                shown.append(self.value(name, bits))
        return shown

    def _shared(self, start: int, count: int) -> list[Shown]:
        data = np.frombuffer(self.stop.shared(), np.uint32)
        return [
            self.value(f"0x{4 * (start + i):x}", f"0x{int(word):08x}")
            for i, word in enumerate(data[start : start + count])
        ]

    def memory(self, reference: str, offset: int, count: int) -> Shown:
        """Bytes of an argument, by its address."""
        address = int(reference, 0) + offset
        for name in self.stop.kernel.arguments:
            array = self.stop.array(name)
            if array is None or not array.flags.c_contiguous:
                continue
            first = array.__array_interface__["data"][0]
            if first <= address < first + array.nbytes:
                size = min(count, first + array.nbytes - address)
                raw = array.view(np.uint8).reshape(-1)[address - first :][:size].tobytes()
                return {
                    "address": f"0x{address:x}", "data": base64.b64encode(raw).decode(),
                    "unreadableBytes": count - size,
                }  # fmt: skip
        raise TileError(f"no argument has the address 0x{address:x}")


def _type(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    return str(dtype) if dtype is not None else type(value).__name__
