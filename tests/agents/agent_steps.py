"""What every agent in Python does."""

import sys
from collections.abc import Awaitable, Callable

import anyio
from mcp import Client

MODERN = "2026-07-28"


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def call_fast(client: Client, text: str) -> None:
    result = await client.call_tool("fast", {"text": text})
    assert result.structured_content == {"said": text}, result


async def give_up(client: Client, then: Callable[[], Awaitable[object]]) -> None:
    """Calls the tool that never answers, and gives up then."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "slow", {})
        await then()
        tasks.cancel_scope.cancel()


async def line() -> None:
    """Waits for the next line on stdin: the runner says what has happened."""
    await anyio.to_thread.run_sync(sys.stdin.readline)
