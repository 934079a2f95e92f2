"""An agent on the Python package `mcp` that starts a command. Its argument is the client's mode."""

import json
import os
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import ToolListChangedNotification

from agent_steps import MODERN, call_fast, give_up, line, names


async def main(mode: str) -> None:
    changed = anyio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    command = StdioServerParameters(
        command=os.environ["CLIENTMCP_PROGRAM"],
        args=json.loads(os.environ["CLIENTMCP_WORDS"]),
        env={"XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]},
    )
    async with Client(stdio_client(command), mode=mode, message_handler=heard) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else MODERN), client.protocol_version
        assert await names(client) == ["fast", "slow", "change"]
        await call_fast(client, "Grüße 😀")
        if mode == "legacy":
            await client.call_tool("change", {})
            await changed.wait()
        else:
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("change", {})
                await anext(changes)
        assert await names(client) == ["fast", "slow", "change", "new"]
        await give_up(client, line)
        await call_fast(client, "plain")
        print('"ready"', flush=True)

        await line()
        assert await names(client) == []
        away = await client.call_tool("fast", {"text": "nobody hears it"})
        assert away.is_error and "Nothing was done" in away.content[0].text, away
        print('"away"', flush=True)

        await line()
        assert await names(client) == ["fast", "slow", "change"]
        await call_fast(client, "again")


anyio.run(main, sys.argv[1])
