// Sends messages to an echo server with the package ws and compares the answers: texts and bytes, whole and
// in fragments, with and without compression. Prints their number.
const { randomBytes } = require("crypto");
const { WebSocket } = require("ws");

const [url, ...lengths] = process.argv.slice(2);

function session(perMessageDeflate) {
  const messages = lengths.map(Number).flatMap((length) => [
    [Buffer.from("é€😀".repeat(length / 9)), false],
    [randomBytes(length), true],
    [Buffer.alloc(length, "same "), true],
  ]);
  const expected = messages.flatMap((message) => [message, message]);
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate });
    let received = 0;
    socket.on("error", reject);
    socket.on("open", () => {
      if (socket.extensions.includes("permessage-deflate") !== Boolean(perMessageDeflate)) {
        reject(new Error(socket.extensions));
      }
      for (const [message, binary] of messages) {
        socket.send(message, { binary });
        const half = message.length >> 1;
        socket.send(message.subarray(0, half), { binary, fin: false });
        socket.ping("between");
        socket.send(message.subarray(half), { binary, fin: true });
      }
    });
    socket.on("message", (data, binary) => {
      const [message, wasBinary] = expected[received];
      if (binary !== wasBinary || !message.equals(data)) reject(new Error(`answer ${received}`));
      received += 1;
      if (received === expected.length) socket.close(1000);
    });
    socket.on("close", (code) => (code === 1000 ? resolve(received) : reject(new Error(`closed ${code}`))));
  });
}

(async () => {
  console.log((await session(false)) + (await session({ threshold: 0 })));
})();
