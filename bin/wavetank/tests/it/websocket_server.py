"""Echoes WebSocket messages with the package websockets, in one frame or, at /fragments, in several.
Prints its port, and after each connection the counts of connections, texts, binary messages and bytes."""
import asyncio

import websockets

counts = [0, 0, 0, 0]


async def echo(websocket, *_):
    request = getattr(websocket, "request", None)
    path = request.path if request else websocket.path
    try:
        async for message in websocket:
            is_text = isinstance(message, str)
            counts[1 if is_text else 2] += 1
            counts[3] += len(message.encode() if is_text else message)
            if path == "/fragments":
                size = max(len(message) // 3000, 1000)
                message = [message[at : at + size] for at in range(0, len(message), size)] or [message]
            await websocket.send(message)
    finally:
        counts[0] += 1
        print(*counts, flush=True)


async def main():
    options = {"subprotocols": ["echo.v2"], "max_size": 2 << 20}
    async with websockets.serve(echo, "127.0.0.1", 0, **options) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()


asyncio.run(main())
