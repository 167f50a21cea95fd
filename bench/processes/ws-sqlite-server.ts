// A chat server as a TypeScript developer writes it: WebSocket, SQLite, one insert for each message, flushed, then broadcast.
import { type Message, openFlushedMessages } from "./flushed-messages.ts";

const [port = "0", file = "messages.db"] = process.argv.slice(2);
const store = openFlushedMessages(file);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  async fetch(request, running) {
    if (running.upgrade(request)) return undefined;
    const message: Message = await request.json();
    store(message);
    running.publish(message.cid, JSON.stringify(message));
    return Response.json({ ok: true }, { status: 201 });
  },
  websocket: {
    open(socket) {
      socket.subscribe("hall");
    },
    message: () => undefined,
  },
});
console.error(`listening on ${server.port}`);
