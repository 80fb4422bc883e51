"""An editor: a client of the Debug Adapter Protocol, over the standard streams or a socket. It is
written after the protocol, and shares no code with the server."""

from __future__ import annotations

import json
import queue
import re
import socket
import subprocess
import sys
import threading
from typing import Any, BinaryIO

TIMEOUT = 120


class Client:
    def __init__(self, over_socket: bool = False, env: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "tile", "debug", "--dap"]
        if over_socket:
            command += ["--port", "0"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )
        self.reader: BinaryIO = self.process.stdout
        self.writer: BinaryIO = self.process.stdin
        if over_socket:
            said = self.process.stderr.readline().decode()
            port = int(re.search(r":(\d+)", said)[1])
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
            self.reader = self.writer = self.socket.makefile("rwb")
        self.seq = 0
        self.events: list[dict] = []
        self.output = ""
        self.inbox: queue.Queue = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: Any) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def _read(self) -> None:
        try:
            while True:
                length = 0
                while (line := self.reader.readline()) not in (b"\r\n", b""):
                    if line.startswith(b"Content-Length: "):
                        length = int(line[16:])
                if not line:
                    break
                self.inbox.put(json.loads(self.reader.read(length)))
        except (OSError, ValueError):
            pass
        self.inbox.put(None)

    def _next(self) -> dict | None:
        message = self.inbox.get(timeout=TIMEOUT)
        if message is not None and message["type"] == "event":
            if message["event"] == "output":
                self.output += message["body"]["output"]
            self.events.append(message)
        return message

    def send(self, command: str, **arguments: Any) -> int:
        self.seq += 1
        message = {"seq": self.seq, "type": "request", "command": command}
        if arguments:
            message["arguments"] = arguments
        data = json.dumps(message).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.writer.flush()
        return self.seq

    def answer(self, seq: int) -> dict:
        while True:
            message = self._next()
            assert message is not None, "the server has gone"
            if message["type"] == "response" and message["request_seq"] == seq:
                return message

    def ask(self, command: str, **arguments: Any) -> dict:
        """A request that must succeed; its body."""
        response = self.answer(self.send(command, **arguments))
        assert response["success"], response
        assert response["command"] == command
        return response.get("body") or {}

    def refused(self, command: str, **arguments: Any) -> str:
        response = self.answer(self.send(command, **arguments))
        assert not response["success"], response
        return response["message"]

    def event(self, name: str) -> dict:
        """The next event of this name; those that were read before count."""
        while True:
            for i, event in enumerate(self.events):
                if event["event"] == name:
                    del self.events[: i + 1]
                    return event.get("body") or {}
            assert self._next() is not None, f"the server has gone without {name}"

    # What editors do.

    def start(self, program: str, lines: dict[str, list], **launch: Any) -> dict:
        """Until the program runs; the capabilities."""
        capabilities = self.ask("initialize", adapterID="tile", linesStartAt1=True)
        launched = self.send("launch", program=program, **launch)
        self.event("initialized")
        for file, breakpoints in lines.items():
            shown = self.ask("setBreakpoints", source={"path": file}, breakpoints=breakpoints)
            assert len(shown["breakpoints"]) == len(breakpoints)
        self.ask("setExceptionBreakpoints", filters=["findings"])
        self.ask("configurationDone")
        response = self.answer(launched)
        assert response["success"], response
        return capabilities

    def top(self) -> dict:
        """The innermost function of the thread that stopped."""
        return self.stack(self.thread)["stackFrames"][0]

    def stack(self, thread: int) -> dict:
        return self.ask("stackTrace", threadId=thread)

    def stopped(self, reason: str) -> dict:
        body = self.event("stopped")
        assert body["reason"] == reason, body
        self.thread = body["threadId"]
        return body

    def go(self, command: str, reason: str, **more: Any) -> dict:
        self.ask(command, threadId=self.thread, **more)
        return self.stopped(reason)

    def variables(self, scope: str = "Locals") -> dict[str, dict]:
        frame = self.top()["id"]
        scopes = self.ask("scopes", frameId=frame)["scopes"]
        reference = next(s["variablesReference"] for s in scopes if s["name"] == scope)
        shown = self.ask("variables", variablesReference=reference)["variables"]
        return {v["name"]: v for v in shown}
