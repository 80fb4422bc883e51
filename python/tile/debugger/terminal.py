"""The debugger on a terminal: one command a line."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..errors import TileError
from . import text
from .breakpoints import bind
from .memory import watchpoint
from .session import Debugger, Front, Quit, Request, Session
from .stop import Frame, Stop

_HELP = """\
going on    c, continue        s, step            n, next            o, out
            i, stepi           one instruction of the warp
back        rc  rs  rn  ro  ri the same backwards
            goto EVENT         to an event, forwards or backwards
stopping    b LINE | FILE:LINE [program X[,Y[,Z]]] [if CONDITION]
            b asm:LINE         a line of the assembly
            watch out[0:4]     memory whose change stops; watch shared[0x0:0x40]
            delete [N ...]     findings on | off
looking     p EXPRESSION       locals             args               where NAME[I, J]
            bt                 up  down           list               warp N
            waits              barriers           shared [TYPE [START [COUNT]]]
            registers [NAME ...]                  info               asm
ending      detach             the launch runs to its end      q, quit"""

_FORWARDS = {
    "c": "continue", "continue": "continue", "s": "step", "step": "step", "n": "next",
    "next": "next", "o": "out", "out": "out", "finish": "out", "i": "instruction",
    "si": "instruction", "stepi": "instruction",
}  # fmt: skip
_BACKWARDS = {
    "rc": "continue", "rs": "step", "back": "step", "rn": "next", "ro": "out", "ri": "instruction",
}  # fmt: skip


class Terminal(Front):
    """Reads commands from a file, or from a user."""

    def __init__(self, commands: Iterable[str] | None = None) -> None:
        self.lines: Iterator[str] = iter(commands) if commands is not None else _ask()
        self.is_scripted = commands is not None
        self.debugger = Debugger(self)
        self.frame = 0
        self.last = ""
        self.is_detached = False
        self.commands: dict[str, Callable[[Stop, str], Request | None]] = {
            "p": self.print, "print": self.print, "locals": self.locals, "args": self.arguments,
            "where": self.where, "bt": self.backtrace, "up": self.up, "down": self.down,
            "list": self.list, "l": self.list, "warp": self.warp, "waits": self.waits,
            "barriers": self.barriers, "shared": self.shared, "registers": self.registers,
            "info": self.info, "asm": self.assembly,
        }  # fmt: skip

    def say(self, message: str) -> None:
        print(message, flush=True)

    # Launches.

    def begins(self, session: Session) -> Request | None:
        if self.is_detached:
            return None
        kernel = session.kernel
        self.say(f"launch {self.debugger.launches}: {kernel.name}, grid {kernel.grid}")
        return Request()

    def stopped(self, session: Session, stop: Stop) -> Request | None:
        self.frame = 0
        self.say(text.headline(stop))
        return self._prompt(session, stop)

    def ended(self, session: Session, report: object) -> Request | None:
        if self.is_detached or not session.events:
            return None
        self.say("the launch has ended: go on with the program by c, or go back")
        return self._prompt(session, None)

    def _prompt(self, session: Session, stop: Stop | None) -> Request | None:
        while True:
            line = self._read()
            if line is None:
                self.is_detached = True
                return None
            try:
                done, request = self._run(line, session, stop)
            except TileError as error:
                self.say(f"error: {error}")
                continue
            if done:
                return request

    def _read(self) -> str | None:
        line = next(self.lines, None)
        if line is None:
            return None
        line = line.strip()
        if self.is_scripted:
            self.say(f"(tile) {line}")
        elif not line:  # Once more.
            line = self.last
        self.last = line
        return line

    def _run(self, line: str, session: Session, stop: Stop | None) -> tuple[bool, Request | None]:
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        if not name or name.startswith("#"):
            return False, None
        if name in ("h", "help", "?"):
            self.say(_HELP)
        elif name in ("q", "quit"):
            raise Quit
        elif name == "detach":
            self.is_detached = True
            return True, None
        elif name in _BACKWARDS:
            return True, Request(_BACKWARDS[name], backwards=True)
        elif name == "goto":
            return True, Request(event=_number(rest, "an event"))
        elif name in _FORWARDS:
            return True, None if stop is None else Request(_FORWARDS[name])
        elif name in ("b", "break"):
            self.break_at(session, stop, rest)
        elif name == "watch":
            block = stop.block_number if stop is not None else 0
            number = self.debugger.number()
            one = watchpoint(number, rest, session.kernel.arguments, block)
            self.debugger.watches[number] = one
            self.say(f"watch {number}: {rest}, {one.size} bytes")
        elif name == "delete":
            self.delete(rest)
        elif name == "findings":
            self.debugger.at_findings = rest != "off"
        elif name in self.commands:
            if stop is None:
                raise TileError("the launch has ended: go back by rc, rs or goto")
            return False, self.commands[name](stop, rest)
        else:
            raise TileError(f"there is no command `{name}`; help lists them")
        return False, None

    # Breakpoints.

    def break_at(self, session: Session, stop: Stop | None, rest: str) -> None:
        found = re.match(
            r"^(?:(?P<file>.+):)?(?P<line>\d+)(?:\s+program\s+(?P<program>\d+(?:,\d+){0,2}))?"
            r"(?:\s+if\s+(?P<condition>.+))?$",
            rest,
        )
        if not found:
            raise TileError("expected: b [FILE:]LINE [program X[,Y[,Z]]] [if CONDITION]")
        file = found["file"]
        if file is None:
            file = stop.frames[0].file if stop is not None and stop.frames else self._file(session)
        program = None
        if found["program"]:
            given = tuple(map(int, found["program"].split(",")))
            program = (*given, *(0,) * (3 - len(given)))
        one = self.debugger.add_breakpoint(
            "" if file == "asm" else file, int(found["line"]), condition=found["condition"] or "",
            program=program,
        )  # fmt: skip
        self.say(one.describe())
        if session.places and not bind(one, session.marks, session.places):
            self.say("    no statement of this kernel begins at this line or behind it")

    def _file(self, session: Session) -> str:
        return next(iter(session.marks.lines), "")

    def delete(self, rest: str) -> None:
        numbers = [_number(n, "a breakpoint") for n in rest.split()]
        if not numbers:
            self.debugger.breakpoints.clear()
            self.debugger.watches.clear()
        for number in numbers:
            known = self.debugger.breakpoints.pop(number, None)
            if known is None and self.debugger.watches.pop(number, None) is None:
                raise TileError(f"there is no breakpoint {number}")

    # Looking.

    def _frame(self, stop: Stop) -> Frame:
        if not stop.frames:
            raise TileError("the warp has ended")
        return stop.frames[min(self.frame, len(stop.frames) - 1)]

    def print(self, stop: Stop, rest: str) -> None:
        frame = self._frame(stop)
        if not rest:
            raise TileError("print what?")
        if re.fullmatch(r"\w+", rest) and (found := stop.variable(rest, frame)) is not None:
            self.say(text.variable(stop, found, most=1000))
            return
        if (bits := stop.register(rest)) is not None:
            self.say(f"{rest} = {_lanes(bits)}")
            return
        try:
            self.say(f"{rest} = {stop.evaluate(rest, frame)!s}")
        except TileError:
            raise
        except Exception as error:
            raise TileError(f"`{rest}`: {error}") from None

    def locals(self, stop: Stop, rest: str) -> None:
        frame = self._frame(stop)
        for name in stop.names(frame):
            if (found := stop.variable(name, frame)) is not None:
                self.say(text.variable(stop, found, most=16))
        if frame.scope is None:
            self.say("the kernel was not compiled for the debugger: print registers")

    def arguments(self, stop: Stop, rest: str) -> None:
        for name, value in stop.kernel.arguments.items():
            array = stop.array(name)
            if array is not None:
                shape = ", ".join(map(str, array.shape))
                shown = np.array2string(array, threshold=16, separator=", ")
                self.say(f"{name}: {array.dtype}[{shape}] = {shown}")
            else:
                self.say(f"{name} = {value!r}")

    def where(self, stop: Stop, rest: str) -> None:
        found = re.fullmatch(r"(\w+)\s*(?:\[(.*)\])?", rest)
        it = stop.variable(found[1], self._frame(stop)) if found else None
        if it is None or it.site is None:
            raise TileError(f"there is no tensor `{rest}`")
        index = tuple(_number(i, "an index") for i in found[2].split(",")) if found[2] else ()
        shape = it.shape or ()
        if len(index) != len(shape) or any(
            not 0 <= i < n for i, n in zip(index, shape, strict=True)
        ):
            raise TileError(f"`{it.name}` has the shape {shape}")
        self.say(text.holders(stop, it, index))

    def backtrace(self, stop: Stop, rest: str) -> None:
        self.say(text.frames(stop))

    def up(self, stop: Stop, rest: str) -> None:
        self.frame = min(self.frame + 1, max(0, len(stop.frames) - 1))
        self.say(f"#{self.frame}  {text.where(self._frame(stop))}")

    def down(self, stop: Stop, rest: str) -> None:
        self.frame = max(self.frame - 1, 0)
        self.say(f"#{self.frame}  {text.where(self._frame(stop))}")

    def list(self, stop: Stop, rest: str) -> None:
        from ..compiler.errors import lines_of

        frame = self._frame(stop)
        lines = lines_of(frame.file) if frame.file else stop.kernel.text.splitlines()
        for at in range(max(1, frame.line - 5), min(len(lines), frame.line + 5) + 1):
            mark = "->" if at == frame.line else "  "
            self.say(f"{mark} {at:5}  {lines[at - 1].rstrip()}")

    def assembly(self, stop: Stop, rest: str) -> None:
        lines, at = stop.kernel.text.splitlines(), self._frame(stop).assembly
        for i in range(max(1, at - 5), min(len(lines), at + 5) + 1):
            self.say(f"{'->' if i == at else '  '} {i:5}  {lines[i - 1].strip()[:120]}")

    def warp(self, stop: Stop, rest: str) -> None:
        number = _number(rest, "a warp")
        if (stop.rank, number) not in [(rank, index) for rank, index, *_ in stop.warps]:
            raise TileError(f"the block has no warp {number}")
        stop.warp = number
        stop.__dict__.pop("frames", None)
        self.frame = 0
        self.say(f"{text.who(stop)}" + (f", {text.where(stop.frames[0])}" if stop.frames else ""))

    def waits(self, stop: Stop, rest: str) -> None:
        self.say(text.waits(stop.waits()))

    def barriers(self, stop: Stop, rest: str) -> None:
        self.say(text.barriers(stop))

    def shared(self, stop: Stop, rest: str) -> None:
        parts = shlex.split(rest)
        dtype = parts[0] if parts else "uint32"
        try:
            np.dtype(dtype)
        except TypeError:
            raise TileError(f"`{dtype}` is no type: float32, int8, ...") from None
        start = _number(parts[1], "an offset") if len(parts) > 1 else 0
        count = _number(parts[2], "a number") if len(parts) > 2 else None
        self.say(text.shared(stop, dtype, start, count))

    def registers(self, stop: Stop, rest: str) -> None:
        for name in rest.split() or stop.native.register_names():
            bits = stop.register(name)
            if bits is None:
                raise TileError(f"there is no register {name}")
            if rest or bits.any():
                self.say(f"{name} = {_lanes(bits)}")

    def info(self, stop: Stop, rest: str) -> None:
        for one in self.debugger.breakpoints.values():
            self.say(f"{one.describe()}; hit {one.hits} times")
        for watch in self.debugger.watches.values():
            self.say(f"watch {watch.number}: {watch.expression}")
        self.say(f"{text.who(stop)}, event {stop.event}, kernel {stop.kernel.name}")


def _ask() -> Iterator[str]:
    try:
        import readline  # noqa: F401
    except ImportError:
        pass
    while True:
        try:
            yield input("(tile) ")
        except EOFError:
            print(file=sys.stderr)
            return
        except KeyboardInterrupt:
            raise Quit from None


def _number(text: str, what: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise TileError(f"{what} is a number, not `{text}`") from None


def _lanes(bits: np.ndarray) -> str:
    if (bits == bits[0]).all():
        return f"0x{int(bits[0]):x} in all lanes"
    return "[" + " ".join(f"{int(b):x}" for b in bits) + "] (hexadecimal, by lane)"
