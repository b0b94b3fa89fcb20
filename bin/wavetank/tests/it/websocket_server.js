// Echoes WebSocket messages with the package ws, in one frame or, at /fragments, in several.
// Prints its port, and after each connection the counts of connections, texts, binary messages and bytes.
const { WebSocketServer } = require("ws");

const counts = [0, 0, 0, 0];
const server = new WebSocketServer({
  host: "127.0.0.1",
  port: 0,
  maxPayload: 2 << 20,
  perMessageDeflate: { threshold: 0 },
  handleProtocols: (offered) => (offered.has("echo.v2") ? "echo.v2" : false),
});
server.on("listening", () => console.log(server.address().port));
server.on("connection", (socket, request) => {
  socket.on("message", (data, binary) => {
    counts[binary ? 2 : 1] += 1;
    counts[3] += data.length;
    if (request.url !== "/fragments") return socket.send(data, { binary });
    const size = Math.max(Math.floor(data.length / 3000), 1000);
    for (let at = 0; ; at += size) {
      const fin = at + size >= data.length;
      socket.send(data.subarray(at, at + size), { binary, fin });
      if (fin) return;
    }
  });
  socket.on("close", () => {
    counts[0] += 1;
    console.log(counts.join(" "));
  });
});
