"""Sends messages to an echo server with the package websockets and compares the answers: texts and bytes,
whole and in fragments, with and without compression. Prints their number."""
import asyncio
import os
import sys

import websockets


async def session(url, compression):
    count = 0
    async with websockets.connect(url, compression=compression, max_size=2 << 20) as websocket:
        response = getattr(websocket, "response", None)
        headers = response.headers if response else websocket.response_headers
        chosen = headers.get("Sec-WebSocket-Extensions", "")
        assert ("permessage-deflate" in chosen) == bool(compression), chosen
        for length in map(int, sys.argv[2:]):
            for message in ("é€😀" * (length // 9), os.urandom(length), b"same " * (length // 5)):
                for parts in (message, [message[at : at + 4000] for at in range(0, len(message), 4000)] or message):
                    await websocket.send(parts)
                    await (await websocket.ping())
                    answer = await websocket.recv()
                    assert answer == message, (length, len(answer))
                    count += 1
    assert websocket.close_code == 1000, websocket.close_code
    return count


async def main():
    print(sum([await session(sys.argv[1], compression) for compression in (None, "deflate")]))


asyncio.run(main())
