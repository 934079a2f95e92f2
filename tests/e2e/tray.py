"""A place for tray icons on the session bus, and hands for their menus: `org.kde.StatusNotifierWatcher`.

One JSON object a line comes in, and for each one goes out: {"menu": true} reads the menu, {"click": id} picks from it.
"""

import asyncio
import json
import sys

from dbus_next import Message, MessageType, Variant
from dbus_next.aio import MessageBus

WATCHER = "org.kde.StatusNotifierWatcher"
ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"

PRESENT = {
    "IsStatusNotifierHostRegistered": Variant("b", True),
    "ProtocolVersion": Variant("i", 0),
    "RegisteredStatusNotifierItems": Variant("as", []),
}


def say(value):
    print(json.dumps(value), flush=True)


def plain(value):
    """The value without the types that D-Bus writes to it; icons are left out."""
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if key != "icon-data"}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value


class Tray:
    def __init__(self, bus):
        self.bus = bus
        self.item = None

    def heard(self, message):
        """Answers for the watcher. An icon names its path alone, so the sender's own name says where that is."""
        if message.message_type is not MessageType.METHOD_CALL or message.path != "/StatusNotifierWatcher":
            return None
        if message.member == "RegisterStatusNotifierItem":
            self.item = (message.sender, message.body[0])
            say({"item": message.body[0]})
            return Message.new_method_return(message)
        if message.member == "RegisterStatusNotifierHost":
            return Message.new_method_return(message)
        if message.interface == PROPERTIES and message.member == "Get":
            return Message.new_method_return(message, "v", [PRESENT[message.body[1]]])
        if message.interface == PROPERTIES and message.member == "GetAll":
            return Message.new_method_return(message, "a{sv}", [PRESENT])
        return None

    async def call(self, path, interface, member, signature="", body=()):
        wanted = Message(
            destination=self.item[0],
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=list(body),
        )
        reply = await self.bus.call(wanted)
        if reply.message_type is MessageType.ERROR:
            raise RuntimeError(f"{member}: {reply.body}")
        return reply.body

    async def get(self, name):
        return plain(await self.call(self.item[1], PROPERTIES, "Get", "ss", [ITEM, name]))[0]

    async def answer(self, ask):
        if self.item is None:
            return {"icon": None}
        menu = await self.get("Menu")
        if "click" in ask:
            await self.call(menu, MENU, "Event", "isvu", [ask["click"], "clicked", Variant("i", 0), 0])
            return {"done": True}
        layout = await self.call(menu, MENU, "GetLayout", "iias", [0, -1, []])
        return {"icon": await self.get("IconName"), "menu": plain(layout[1])}


async def main():
    bus = await MessageBus().connect()
    tray = Tray(bus)
    bus.add_message_handler(tray.heard)
    await bus.request_name(WATCHER)
    say({"watching": True})
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        try:
            say(await tray.answer(json.loads(line)))
        except Exception as fault:  # Whatever it is, the test reads it.
            say({"fault": repr(fault)})


asyncio.run(main())
