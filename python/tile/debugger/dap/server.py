"""Serves an editor: the debugger's front by the Debug Adapter Protocol.

The program runs on the main thread, where its launches stop. Another thread reads requests. It
answers them itself while the program is not in a launch. In a launch the main thread does: a launch
that runs is interrupted at its next event.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from ...errors import TileError
from .. import text
from ..breakpoints import Breakpoint, bind
from ..memory import watchpoint
from ..session import FINDING, PAUSE, PLACE, STEP, WATCH, Debugger, Front, Quit, Session
from ..session import Request as Wish
from ..stop import Frame, Stop
from ..terminal import Terminal
from .protocol import Connection, ProtocolError, Request
from .views import Views

_CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsStepBack": True,
    "supportsSteppingGranularity": True,
    "supportsDataBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsExceptionInfoRequest": True,
    "supportsReadMemoryRequest": True,
    "supportsTerminateRequest": True,
    "supportsBreakpointLocationsRequest": True,
    "exceptionBreakpointFilters": [
        {
            "filter": "findings",
            "label": "Findings of the simulator",
            "description": "Races, accesses out of bounds, hangs, ...",
            "default": True,
        }
    ],
}
#: Requests that let a launch go on, and what they ask for.
_GOING_ON = {
    "continue": ("continue", False), "next": ("next", False), "stepIn": ("step", False),
    "stepOut": ("out", False), "stepBack": ("next", True), "reverseContinue": ("continue", True),
}  # fmt: skip
_REASONS = {
    PLACE: "step", STEP: "step", WATCH: "data breakpoint", FINDING: "exception", PAUSE: "pause",
}  # fmt: skip


class _Output(io.TextIOBase):
    """What the program prints, as events."""

    def __init__(self, connection: Connection, category: str) -> None:
        self.connection, self.category = connection, category

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text:
            self.connection.event("output", {"category": self.category, "output": text})
        return len(text)


class Server(Front):
    """One editor, and the program that it debugs."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.debugger = Debugger(self)
        self.requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self.in_launch = False
        self.is_running = False
        self.pausing = False
        self.is_disconnected = False
        self.launch_request: Request | None = None
        self.is_configured = False
        self.stop: Stop | None = None
        self.views: Views | None = None
        #: The numbers of breakpoints by file.
        self.by_file: dict[str, list[int]] = {}
        self.pending_watches: list[tuple[Request, list[dict]]] = []
        #: The thread that the editor looks at, by the frames that it was told of.
        self.frame_ids: list[tuple[int, int, Frame]] = []
        self.answer: Wish | bool | None = False

    # The two threads.

    def read(self) -> None:
        """Reads requests until the editor goes."""
        try:
            while (request := self.connection.read()) is not None:
                self._take(request)
        except (ProtocolError, OSError) as error:
            print(f"tile debug: {error}", file=sys.stderr)
        self.is_disconnected = True
        self.requests.put(None)
        self._interrupt()

    def _take(self, request: Request) -> None:
        if request["command"] == "pause":
            self.pausing = True
            self.connection.respond(request)
            session = self.debugger.session
            if session is None or session.native is None:
                self.debugger.stops_at_entry = True
            self._interrupt()
            return
        if self.is_running and not self.in_launch:
            if request["command"] in ("disconnect", "terminate"):
                self.connection.respond(request)
                self.connection.event("terminated")
                os._exit(0)
            self.handle(request)
            return
        self.requests.put(request)
        self._interrupt()

    def _interrupt(self) -> None:
        session = self.debugger.session
        if self.in_launch and session is not None and session.native:
            session.native.pause()

    def serve(self) -> int:
        """Until the program has ended."""
        thread = threading.Thread(target=self.read, daemon=True)
        thread.start()
        while not (self.launch_request is not None and self.is_configured):
            request = self.requests.get()
            if request is None or request["command"] in ("disconnect", "terminate"):
                if request is not None:
                    self.connection.respond(request)
                return 0
            self.handle(request)
        status = self._run()
        self.is_running = False
        self.connection.event("exited", {"exitCode": status})
        self.connection.event("terminated")
        while not self.is_disconnected:
            try:
                request = self.requests.get(timeout=10)
            except queue.Empty:
                break
            if request is None:
                break
            self.handle(request)
            if request["command"] in ("disconnect", "terminate"):
                break
        return status

    def _run(self) -> int:
        from ..program import debug_program

        assert self.launch_request is not None
        given = self.launch_request.get("arguments", {})
        self.connection.respond(self.launch_request)
        self.debugger.kernel = given.get("kernel")
        self.debugger.stops_at_entry = bool(given.get("stopOnEntry"))
        os.environ.update({k: str(v) for k, v in (given.get("env") or {}).items()})
        if given.get("cwd"):
            os.chdir(given["cwd"])
        arguments = [str(a) for a in given.get("args") or []]
        program = str(given["program"])
        self.is_running = True
        out = _Output(self.connection, "stdout")
        err = _Output(self.connection, "stderr")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                from ...cli import debug as command

                if command.is_assembly(program):
                    status = command._assembly.main(
                        [program, *arguments], prog_name="tile debug", standalone_mode=False,
                        obj=self.debugger,
                    )  # fmt: skip
                    return int(status or 0)
                return debug_program(
                    self.debugger, program, arguments, module=bool(given.get("module")),
                    target=given.get("target"), variables=given.get("variables", True),
                )  # fmt: skip
            except Quit:
                return 0
            except Exception as error:
                err.write(f"tile debug: error: {error}\n")
                return 1

    # Launches, on the main thread.

    def begins(self, session: Session) -> Wish | None:
        self.in_launch = True
        self._bind_watches(session)
        return None if self.is_disconnected else Wish()

    def ended(self, session: Session, report: Any) -> Wish | None:
        self.in_launch = False
        return None

    def stopped(self, session: Session, stop: Stop) -> Wish | None:
        was_asked, self.pausing = self.pausing, False
        self.stop, self.views, self.frame_ids = stop, Views(stop), []
        reason = _REASONS.get(stop.reason, "step")
        if stop.hit:
            reason = "breakpoint"
        elif was_asked:
            reason = "pause"
        elif stop.event == 1:
            reason = "entry"
        body: dict[str, Any] = {
            "reason": reason, "threadId": self._thread(stop.rank, stop.warp),
            "allThreadsStopped": True, "description": text.headline(stop).splitlines()[0],
        }  # fmt: skip
        if stop.reason == FINDING:
            body["text"] = text.headline(stop)
        if stop.hit:
            body["hitBreakpointIds"] = list(stop.hit)
        self.connection.event("stopped", body)
        return self._until_resumed()

    def _until_resumed(self) -> Wish | None:
        self.answer = False
        while self.answer is False:
            request = self.requests.get()
            if request is None:
                self.stop = None
                raise Quit
            self.handle(request)
        self.stop = self.views = None
        assert not isinstance(self.answer, bool)
        return self.answer

    def interrupted(self, session: Session) -> bool:
        """A launch that runs was interrupted: whether it was to answer requests alone."""
        if self.pausing:
            return False
        while not self.requests.empty():
            request = self.requests.get()
            if request is None:
                raise Quit
            self.handle(request)
        return True

    # Requests.

    def handle(self, request: Request) -> None:
        command = request["command"]
        handler: Callable[[Request, dict], Any] | None = getattr(self, f"on_{command}", None)
        arguments = request.get("arguments") or {}
        try:
            if command in _GOING_ON:
                self._go_on(request, arguments)
                return
            if handler is None:
                raise TileError(f"the request `{command}` is not supported")
            body = handler(request, arguments)
        except (TileError, NameError, KeyError, TypeError, ValueError, IndexError) as error:
            self.connection.refuse(request, str(error) or type(error).__name__)
            return
        if body is not NotImplemented:
            self.connection.respond(request, body)

    def _stopped(self) -> Stop:
        if self.stop is None:
            raise TileError("the launch runs")
        return self.stop

    def _go_on(self, request: Request, arguments: dict) -> None:
        stop = self._stopped()
        kind, backwards = _GOING_ON[request["command"]]
        if kind != "continue" and arguments.get("granularity") == "instruction":
            kind = "instruction"
        wish = Wish(kind, backwards)
        thread = arguments.get("threadId")
        if kind != "continue" and thread:
            rank, warp = divmod(int(thread) - 1, 1 << 10)
            wish.block, wish.warp = stop.block_number - stop.rank + rank, warp
        body = {"allThreadsContinued": True} if kind == "continue" else None
        self.connection.respond(request, body)
        self.answer = wish

    def on_initialize(self, request: Request, arguments: dict) -> Any:
        self.connection.respond(request, _CAPABILITIES)
        self.connection.event("initialized")
        return NotImplemented

    def on_launch(self, request: Request, arguments: dict) -> Any:
        if not arguments.get("program"):
            raise TileError("`program` is missing: a program of Python, or a file of assembly")
        self.launch_request = request  # Answered when all is configured.
        return NotImplemented

    def on_configurationDone(self, request: Request, arguments: dict) -> Any:
        self.is_configured = True

    def on_setBreakpoints(self, request: Request, arguments: dict) -> Any:
        file = arguments["source"].get("path") or arguments["source"].get("name", "")
        for number in self.by_file.pop(file, []):
            self.debugger.breakpoints.pop(number, None)
        shown, numbers = [], []
        for one in arguments.get("breakpoints", []):
            condition, program = _condition(one.get("condition") or "")
            added = self.debugger.add_breakpoint(
                "" if _is_assembly(file) else file, int(one["line"]), condition=condition,
                program=program, ignore=_times(one.get("hitCondition")),
            )  # fmt: skip
            numbers.append(added.number)
            shown.append(self._shown_breakpoint(added))
        self.by_file[file] = numbers
        return {"breakpoints": shown}

    def _shown_breakpoint(self, one: Breakpoint) -> dict[str, Any]:
        session = self.debugger.session
        if session is not None and session.places:
            bound = bind(one, session.marks, session.places)
            if not bound:
                why = "no statement of the kernel that runs begins at this line or behind it"
                return {"id": one.number, "verified": False, "message": why}
            return {"id": one.number, "verified": True, "line": bound[0][3]}
        return {"id": one.number, "verified": True, "line": one.line}

    def on_setFunctionBreakpoints(self, request: Request, arguments: dict) -> Any:
        return {"breakpoints": [
            {"verified": False, "message": "set a breakpoint on a line of the function"}
            for _ in arguments.get("breakpoints", [])
        ]}  # fmt: skip

    def on_setExceptionBreakpoints(self, request: Request, arguments: dict) -> Any:
        self.debugger.at_findings = "findings" in arguments.get("filters", [])
        return {}

    def on_breakpointLocations(self, request: Request, arguments: dict) -> Any:
        file = arguments["source"].get("path", "")
        first, last = arguments["line"], arguments.get("endLine", arguments["line"])
        session = self.debugger.session
        lines = session.marks.lines.get(file, []) if session is not None else []
        return {"breakpoints": [{"line": n} for n in lines if first <= n <= last]}

    def on_dataBreakpointInfo(self, request: Request, arguments: dict) -> Any:
        stop, name = self._stopped(), arguments["name"]
        try:
            watchpoint(0, name, stop.kernel.arguments, stop.block_number)
        except TileError as error:
            return {"dataId": None, "description": str(error)}
        return {"dataId": name, "description": name, "accessTypes": ["write"], "canPersist": True}

    def on_setDataBreakpoints(self, request: Request, arguments: dict) -> Any:
        self.debugger.watches.clear()
        wanted = arguments.get("breakpoints", [])
        if self.stop is None:
            self.pending_watches = [(request, wanted)]
            return {"breakpoints": [{"verified": False} for _ in wanted]}
        return {"breakpoints": [self._watch(one, self.stop.kernel.arguments) for one in wanted]}

    def _watch(self, one: dict, arguments: dict[str, Any]) -> dict:
        block = self.stop.block_number if self.stop is not None else 0
        number = self.debugger.number()
        try:
            watch = watchpoint(number, one["dataId"], arguments, block)
        except TileError as error:
            return {"verified": False, "message": str(error)}
        self.debugger.watches[number] = watch
        return {"id": number, "verified": True}

    def _bind_watches(self, session: Session) -> None:
        for _, wanted in self.pending_watches:
            for one in wanted:
                self._watch(one, session.kernel.arguments)
        self.pending_watches = []

    # What there is to see.

    @staticmethod
    def _thread(rank: int, warp: int) -> int:
        return 1 + (rank << 10) + warp

    def on_threads(self, request: Request, arguments: dict) -> Any:
        if self.stop is None:
            return {"threads": [{"id": 1, "name": "kernel"}]}
        stop = self.stop
        threads = []
        for rank, warp, _, _, fragments in stop.warps:
            if not fragments:
                continue
            partition = stop.marks.partition_of(warp)
            name = f"program {stop.program}"
            name += f", block {rank}" if stop.kernel.cluster > 1 else ""
            name += f", warp {warp}" + (f" ({partition})" if partition else "")
            threads.append({"id": self._thread(rank, warp), "name": name})
        return {"threads": threads or [{"id": 1, "name": "kernel"}]}

    def _look_at(self, rank: int, warp: int) -> Stop:
        stop = self._stopped()
        if (stop.rank, stop.warp) != (rank, warp):
            stop.rank, stop.warp = rank, warp
            stop.__dict__.pop("frames", None)
        return stop

    def on_stackTrace(self, request: Request, arguments: dict) -> Any:
        rank, warp = divmod(int(arguments["threadId"]) - 1, 1 << 10)
        stop = self._look_at(rank, warp)
        shown = []
        for frame in stop.frames:
            self.frame_ids.append((rank, warp, frame))
            one: dict[str, Any] = {
                "id": len(self.frame_ids), "name": frame.function, "line": frame.line,
                "column": max(1, frame.column),
            }  # fmt: skip
            if frame.file:
                one["source"] = {"name": os.path.basename(frame.file), "path": frame.file}
            elif self.launch_request is not None:
                path = os.path.abspath(str(self.launch_request["arguments"]["program"]))
                one["source"] = {"name": os.path.basename(path), "path": path}
            shown.append(one)
        first = arguments.get("startFrame") or 0
        last = first + (arguments.get("levels") or len(shown))
        return {"stackFrames": shown[first:last], "totalFrames": len(shown)}

    def _frame(self, number: int | None) -> Frame | None:
        stop = self._stopped()
        if number is None:
            return stop.frames[0] if stop.frames else None
        if not 0 < number <= len(self.frame_ids):
            raise TileError("this frame is not there any more")
        rank, warp, frame = self.frame_ids[number - 1]
        self._look_at(rank, warp)
        return frame

    def on_scopes(self, request: Request, arguments: dict) -> Any:
        frame = self._frame(arguments["frameId"])
        assert self.views is not None and frame is not None
        return {"scopes": self.views.scopes(frame)}

    def on_variables(self, request: Request, arguments: dict) -> Any:
        self._stopped()
        assert self.views is not None
        start, count = arguments.get("start") or 0, arguments.get("count") or 0
        return {"variables": self.views.children(arguments["variablesReference"], start, count)}

    def on_evaluate(self, request: Request, arguments: dict) -> Any:
        stop, expression = self._stopped(), arguments["expression"].strip()
        frame = self._frame(arguments.get("frameId"))
        if arguments.get("context") == "repl" and (said := self._command(stop, expression)):
            return {"result": said, "variablesReference": 0}
        try:
            value = stop.evaluate(expression, frame)
        except TileError:
            raise
        except Exception as error:
            raise TileError(f"{type(error).__name__}: {error}") from None
        assert self.views is not None
        shown = self.views.value(expression, value)
        shown["result"] = shown.pop("value")
        del shown["name"]
        return shown

    def _command(self, stop: Stop, line: str) -> str:
        """A command of the terminal that looks at something; empty if it is none."""
        name, _, rest = line.partition(" ")
        terminal = Terminal(())
        said: list[str] = []
        terminal.say = said.append  # type: ignore[method-assign]
        if name not in terminal.commands or name in ("list", "l", "up", "down"):
            return ""
        terminal.debugger = self.debugger
        terminal.commands[name](stop, rest.strip())
        return "\n".join(said)

    def on_exceptionInfo(self, request: Request, arguments: dict) -> Any:
        stop = self._stopped()
        errors = stop.report().errors
        if not errors:
            raise TileError("nothing was found")
        kind = stop.report().findings[-1]["kind"]
        return {"exceptionId": kind, "description": errors[-1], "breakMode": "always"}

    def on_readMemory(self, request: Request, arguments: dict) -> Any:
        self._stopped()
        assert self.views is not None
        return self.views.memory(
            arguments["memoryReference"], arguments.get("offset") or 0, arguments["count"]
        )

    def on_terminate(self, request: Request, arguments: dict) -> Any:
        return self.on_disconnect(request, arguments)

    def on_disconnect(self, request: Request, arguments: dict) -> Any:
        self.connection.respond(request)
        if self.in_launch:
            raise Quit
        return NotImplemented


def _is_assembly(file: str) -> bool:
    from ...cli.debug import is_assembly

    return is_assembly(file)


def _condition(condition: str) -> tuple[str, tuple[int, int, int] | None]:
    """A condition; it may begin with the program that it is for: `program 3,0,0 if x > 1`."""
    if not condition.startswith("program "):
        return condition, None
    given, _, rest = condition.removeprefix("program ").partition(" if ")
    try:
        numbers = tuple(int(n) for n in given.split(","))
    except ValueError:
        return condition, None
    return rest.strip(), (*numbers, *(0,) * (3 - len(numbers)))  # type: ignore[return-value]


def _times(condition: str | None) -> int:
    """How many hits come before the first that stops."""
    if not condition:
        return 0
    try:
        return max(0, int(str(condition).lstrip("><= ")) - 1)
    except ValueError:
        raise TileError(f"hits are a number, not `{condition}`") from None


def _standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Of the protocol. What else is printed there, by whomever, goes to stderr."""
    reader, writer = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    return os.fdopen(reader, "rb"), os.fdopen(writer, "wb")


def serve(port: int | None) -> int:
    """Serves one editor, by the standard streams or at a port of this machine."""
    if port is None:
        return Server(Connection(*_standard_streams())).serve()
    with socket.create_server(("127.0.0.1", port)) as listener:
        print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
        client, _ = listener.accept()
    with client:
        stream = client.makefile("rwb")
        return Server(Connection(stream, stream)).serve()
