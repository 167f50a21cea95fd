// An Express server that tells a conversation about each order that is placed.
import { createAdmin, HeraldApiError } from "@herald/sdk/admin";
import express from "express";

const herald = createAdmin({
  url: process.env.HERALD_URL ?? "http://127.0.0.1:7070",
  key: process.env.HERALD_ADMIN_API_KEY ?? "",
  deadlineMs: 10_000, // with all retries: our own callers do not wait for ever
});

const app = express();
app.use(express.json());

app.post("/users/:user/orders/:order", async (request, response) => {
  const { user, order } = request.params;
  if (![user, order].every((id) => /^[\w-]{1,50}$/.test(id)))
    return response.status(400).json({ error: "a user and an order are 1 to 50 letters and digits" });
  // Store the order here, first. If the process dies between the two steps, the same request again completes them: the id is
  // composed of what was ordered, so that the message is sent once, however often this runs.
  const { ask } = await herald.sendMessage({
    organizationId: "demo",
    senderId: "alice",
    message: {
      id: `order-placed:${user}:${order}`,
      cid: "welcome",
      body: `${user} has placed order ${order}.`,
      x: { user, order },
    },
  });
  response.status(201).json({ order, message: ask.server_mid });
});

// Express 5 passes what an async route throws. The SDK has already retried what is worth it.
app.use((error, _request, response, next) => {
  if (!(error instanceof HeraldApiError)) return next(error);
  console.error(error.message, error.requestId ?? "");
  const isTemporary = error.status === 0 || error.status === 429 || error.status >= 500;
  if (isTemporary) return response.status(503).set("Retry-After", "5").json({ error: "try again with the same order" });
  // Herald has refused the request: a wrong key, a sender who does not take part. Our mistake, and not our caller's.
  response.status(500).json({ error: "the message could not be sent" });
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
