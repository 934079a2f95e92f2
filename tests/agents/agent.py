"""An agent on the Python package `mcp`. Its argument is the client's mode: a modern revision, `auto` or `legacy`."""

import os
import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ToolListChangedNotification

from agent_steps import MODERN, call_fast, give_up, line, names


class Streams:
    """Tells which streams are open; the library says nothing of them."""

    def __init__(self) -> None:
        self.listening = anyio.Event()
        self.answering = anyio.Event()
        self.slow: httpx2.Request | None = None

    async def asked(self, request: httpx2.Request) -> None:
        if b"slow" in request.content:
            self.slow = request

    async def opened(self, response: httpx2.Response) -> None:
        if response.headers.get("content-type") != "text/event-stream":
            return
        if response.request.method == "GET":
            self.listening.set()
        if response.request is self.slow:
            self.answering.set()

    async def slow_answer(self) -> None:
        """Waits until the next slow call is answered by a stream."""
        self.slow, self.answering = None, anyio.Event()
        await self.answering.wait()


async def main(mode: str) -> None:
    authorization = os.environ.get("CLIENTMCP_AUTHORIZATION")
    streams, changed = Streams(), anyio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    http = httpx2.AsyncClient(
        headers={"Authorization": authorization} if authorization else {},
        event_hooks={"request": [streams.asked], "response": [streams.opened]},
        timeout=httpx2.Timeout(30, read=None),
    )
    transport = streamable_http_client(os.environ["CLIENTMCP_MCP"], http_client=http)
    async with http, Client(transport, mode=mode, message_handler=heard) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else MODERN), client.protocol_version
        assert await names(client) == ["fast", "slow", "change"]
        await call_fast(client, "Grüße 😀")
        if mode == "legacy":
            # An announcement is for open streams alone.
            await streams.listening.wait()
            await client.call_tool("change", {})
            await changed.wait()
        else:
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("change", {})
                await anext(changes)
        assert await names(client) == ["fast", "slow", "change", "new"]
        await give_up(client, line)
        await give_up(client, streams.slow_answer)
        await call_fast(client, "plain")


anyio.run(main, sys.argv[1])
