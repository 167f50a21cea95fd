// A chat server as a TypeScript developer writes it: WebSocket, SQLite, one insert for each message, flushed, then broadcast.
import { Database } from "bun:sqlite";

const [port = "0", file = "messages.db"] = process.argv.slice(2);
const database = new Database(file, { create: true });
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");
database.run(
  "CREATE TABLE message (id TEXT PRIMARY KEY, cid TEXT NOT NULL, sender TEXT NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL)",
);
const insert = database.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  async fetch(request, running) {
    if (running.upgrade(request)) return undefined;
    const message: { from: string; cid: string; body: string } = await request.json();
    insert.run(crypto.randomUUID(), message.cid, message.from, message.body, Date.now());
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
