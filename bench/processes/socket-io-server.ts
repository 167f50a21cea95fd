// A chat server with Socket.IO as its documentation shows it: each message is stored, flushed, and then broadcast to its room.
import { Server as Engine } from "@socket.io/bun-engine";
import { SQL } from "bun";
import { Server } from "socket.io";
import { type Message, messageTable, openFlushedMessages } from "./flushed-messages.ts";

const [port = "0", database = "messages.db"] = process.argv.slice(2);

async function openStore(): Promise<(message: Message) => unknown> {
  if (!database.startsWith("postgres:")) return openFlushedMessages(database);
  const sql = new SQL(database);
  await sql.unsafe(messageTable);
  return ({ cid, from, body }) =>
    sql`INSERT INTO message VALUES (${crypto.randomUUID()}, ${cid}, ${from}, ${body}, ${Date.now()})`;
}

const store = await openStore();
const io = new Server();
const engine = new Engine({ path: "/socket.io/" });
io.bind(engine);
io.on("connection", (socket) => socket.join("hall"));
const handler = engine.handler();

Bun.serve({
  ...handler,
  hostname: "127.0.0.1",
  port: Number(port),
  async fetch(request, server) {
    if (request.method !== "POST") return handler.fetch(request, server);
    const message: Message = await request.json();
    await store(message);
    io.to(message.cid).emit("message", message);
    return Response.json({ ok: true }, { status: 201 });
  },
});
