"""Messages of the Debug Adapter Protocol: JSON behind a header with its length."""

from __future__ import annotations

import json
import threading
from typing import Any, BinaryIO, TypedDict


class Request(TypedDict, total=False):
    seq: int
    type: str
    command: str
    arguments: dict[str, Any]


class Response(TypedDict, total=False):
    seq: int
    type: str
    request_seq: int
    success: bool
    command: str
    message: str
    body: dict[str, Any]


class Event(TypedDict, total=False):
    seq: int
    type: str
    event: str
    body: dict[str, Any]


class ProtocolError(Exception):
    """What was read is no message."""


#: A longer message is a mistake.
_LONGEST = 1 << 26


def read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message; None at the end of the stream."""
    length = None
    while True:
        line = stream.readline()
        if not line:
            return None
        line = line.strip()
        if not line:
            break
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            if not value.strip().isdigit():
                raise ProtocolError(f"a length is a number, not {value!r}")
            length = int(value)
    if length is None or length > _LONGEST:
        raise ProtocolError("a message has no length, or is too long")
    data = b""
    while len(data) < length:
        part = stream.read(length - len(data))
        if not part:
            return None
        data += part
    try:
        message = json.loads(data)
    except ValueError as error:
        raise ProtocolError(f"a message is no JSON: {error}") from None
    if not isinstance(message, dict):
        raise ProtocolError("a message is an object")
    return message


def write_message(stream: BinaryIO, message: Any) -> None:
    data = json.dumps(message).encode()
    stream.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    stream.flush()


class Connection:
    """One client: numbers what is sent, from any thread."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader, self._writer = reader, writer
        self._lock = threading.Lock()
        self._sent = 0

    def read(self) -> Request | None:
        while (message := read_message(self._reader)) is not None:
            if message.get("type") == "request" and isinstance(message.get("command"), str):
                return message  # type: ignore[return-value]
        return None

    def _send(self, message: Any) -> None:
        with self._lock:
            self._sent += 1
            message["seq"] = self._sent
            try:
                write_message(self._writer, message)
            except (OSError, ValueError):  # The client has gone.
                pass

    def respond(self, request: Request, body: dict[str, Any] | None = None) -> None:
        response = Response(
            type="response", request_seq=request["seq"], success=True, command=request["command"]
        )
        if body is not None:
            response["body"] = body
        self._send(response)

    def refuse(self, request: Request, message: str) -> None:
        self._send(
            Response(
                type="response", request_seq=request["seq"], success=False,
                command=request["command"], message=message,
                body={"error": {"id": 1, "format": message, "showUser": True}},
            )
        )  # fmt: skip

    def event(self, name: str, body: dict[str, Any] | None = None) -> None:
        event = Event(type="event", event=name)
        if body is not None:
            event["body"] = body
        self._send(event)
