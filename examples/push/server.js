// Receives Herald's webhooks, and sends a Web Push notification to each browser of a user who was not reached.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { text as readText } from "node:stream/consumers";
import { HeraldWebhookError, verifyWebhook } from "@herald/sdk/webhooks";
import webPush from "web-push";

const { publicKey, privateKey } = webPush.generateVAPIDKeys(); // a real app keeps its pair: browsers subscribe to one
webPush.setVapidDetails("mailto:push@example.org", publicKey, privateKey);
const secret = process.env.WEBHOOK_SECRET ?? ""; // whsec_…, shown once when the webhook is created

// In memory for the example. A real app has two tables.
const subscriptions = new Map(); // endpoint → { uid, subscription }
const seen = new Set(); // ids of webhooks

// The push service drops what expires meanwhile (RFC 8030, 5.2), and replaces what has the same topic (5.4).
function optionsOf({ from, key, expires_at }) {
  const topic = key && createHash("sha256").update(`${from} ${key}`).digest("base64url").slice(0, 32);
  const TTL = expires_at && Math.max(0, Math.floor((Date.parse(expires_at) - Date.now()) / 1000));
  return { ...(topic && { topic }), ...(TTL !== undefined && { TTL }) };
}

async function notify({ type, data }) {
  const { message, system_message: system, unreached } = data;
  const isMessage = type === "message.unreached";
  const shown = isMessage ? { title: message.from, body: message.body } : { title: system.x.title ?? "News for you" };
  const text = JSON.stringify({ ...shown, tag: (message ?? system).cid });
  const { from } = message ?? system; // takes part, too, and knows
  const options = optionsOf(message ?? system);
  const uids = new Set(unreached.map(({ uid }) => uid).filter((uid) => uid !== from));
  console.log(`${type}: ${[...uids].join(", ")}`);
  const targets = [...subscriptions.values()].filter(({ uid }) => uids.has(uid));
  const send = ({ subscription }) =>
    webPush.sendNotification(subscription, text, options).catch(({ statusCode, message: why }) => {
      if (statusCode === 404 || statusCode === 410) subscriptions.delete(subscription.endpoint);
      else console.error(`push service: ${statusCode ?? why}`);
    });
  await Promise.all(targets.map(send));
}

async function receiveWebhook(request, body) {
  const webhook = await verifyWebhook({ headers: request.headers, body, secret });
  if (seen.has(webhook.id)) return; // Herald sends at least once, and a retry has the same id
  if (webhook.data.unreached) await notify(webhook);
  seen.add(webhook.id);
}

const files = { "/": ["page.html", "text/html"], "/worker.js": ["worker.js", "text/javascript"] };

const server = createServer(async (request, response) => {
  const answer = (status, body = "", type = "text/plain") =>
    response.writeHead(status, { "Content-Type": type }).end(body);
  try {
    const [file, type] = files[request.url] ?? [];
    if (file) return answer(200, readFileSync(new URL(file, import.meta.url)), type);
    if (request.url === "/key") return answer(200, publicKey);
    const body = await readText(request);
    if (request.url === "/webhooks/herald") await receiveWebhook(request, body);
    else if (request.url === "/subscriptions") {
      const { uid, subscription } = JSON.parse(body || "{}"); // a real app takes the user from its own session
      if (!uid || !URL.canParse(subscription?.endpoint)) return answer(400, "a subscription has a uid and an endpoint");
      subscriptions.set(subscription.endpoint, { uid, subscription });
    } else return answer(404);
    answer(204);
  } catch (error) {
    const status = error instanceof HeraldWebhookError ? 401 : error instanceof SyntaxError ? 400 : 500;
    if (status === 500) console.error(error); // then Herald tries again
    answer(status, error.message);
  }
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
