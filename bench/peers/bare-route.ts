// Floor of the sends: a Hono route that parses the JSON, validates it with Herald's own schema and answers as many
// bytes. No key, no scan, no store.
import { Hono } from "hono";
import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createSendMessageRequest } from "../../src/contract/messages/messages.ts";
import { sampleAnswer } from "../harness/organization.ts";
import { sayListening } from "../harness/servers.ts";

const schema = createSendMessageRequest(defaultPayloadLimits);
const app = new Hono();
app.post("/admin/message", async (context) => {
  const parsed = schema.safeParse(await context.req.json());
  if (!parsed.success) return context.json({ error: "invalid" }, 400);
  return context.json({ ask: { ...sampleAnswer.ask, mid: parsed.data.message.id } }, 201);
});
app.get("/healthz", (context) => context.body(null, 204));

const server = Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch: app.fetch });
sayListening(server.port);
