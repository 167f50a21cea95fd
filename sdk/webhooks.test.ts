import { expect, test } from "bun:test";
import fc from "fast-check";
import { Webhook as Reference } from "standardwebhooks";
import { HeraldArgumentError } from "./errors.ts";
import { HeraldWebhookError, verifyWebhook, type WebhookRequest } from "./webhooks.ts";

const secretOf = (fill: number) => `whsec_${Buffer.alloc(24, fill).toString("base64")}`;
const secret = secretOf(1);
const nowMs = Date.parse("2026-11-20T13:06:00Z");
const message = {
  _id: "m1",
  t: 1795179960,
  from: "alice",
  body: "grüezi 👋",
  cid: "c1",
  x: {},
  attachments: [],
  created_at: "2026-11-20T13:06:00.000Z",
};
const payload = {
  type: "message.unreached",
  timestamp: "2026-11-20T13:06:10.000Z",
  data: {
    organizationId: "o1",
    message,
    unreached: [{ uid: "bob", reason: "offline" }],
    waited_seconds: 10,
    part: 1,
    parts: 1,
  },
};

/** A request that the reference implementation of Standard Webhooks has signed. */
function signed({
  body = JSON.stringify(payload),
  id = "w1",
  atMs = nowMs,
  secrets = [secret],
}: {
  body?: string;
  id?: string;
  atMs?: number;
  secrets?: string[];
} = {}) {
  const signatures = secrets.map((one) => new Reference(one).sign(id, new Date(atMs), body));
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": `${Math.floor(atMs / 1000)}`,
    "webhook-signature": signatures.join(" "),
  };
  return { headers, body, secret, nowMs } satisfies WebhookRequest;
}

const refusal = async (request: WebhookRequest) => {
  const error = await verifyWebhook(request).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HeraldWebhookError);
  return error;
};

test("a webhook that the reference implementation signed is returned with its id", async () => {
  const webhook = await verifyWebhook(signed());
  expect(webhook).toEqual({ id: "w1", ...payload } as typeof webhook);
  if (webhook.type === "message.unreached") expect(webhook.data.message.body).toBe("grüezi 👋");
});

test("any body and id that the reference implementation signs is accepted, and no other body", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.uuid(), fc.nat(100), async (body, id, fill) => {
      const secrets = [secretOf(fill)];
      const text = JSON.stringify({ ...payload, body });
      const request = { ...signed({ body: text, id, secrets }), secret: secrets };
      expect((await verifyWebhook(request)).id).toBe(id);
      await refusal({ ...request, body: `${text} ` });
    }),
    { numRuns: 50 },
  );
});

test("headers may be of Fetch or of Node, the body text or bytes, the secret without its prefix", async () => {
  const request = signed();
  const bytes = new TextEncoder().encode(request.body);
  const upper = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toUpperCase(), value]));
  const forms: Partial<WebhookRequest>[] = [
    { headers: new Headers(request.headers) },
    { headers: upper },
    { body: bytes },
    { body: bytes.buffer },
    { secret: secret.slice("whsec_".length) },
  ];
  for (const form of forms) expect((await verifyWebhook({ ...request, ...form })).id).toBe("w1");
});

test("during a rotation, one of several signatures and one of several secrets are enough", async () => {
  const [old, fresh] = [secretOf(7), secretOf(8)];
  const both = signed({ secrets: [old, fresh] });
  for (const known of [old, fresh, [secretOf(9), fresh]])
    expect((await verifyWebhook({ ...both, secret: known })).id).toBe("w1");
  expect((await verifyWebhook({ ...signed({ secrets: [old] }), secret: [fresh, old] })).id).toBe("w1");
  expect(await refusal({ ...both, secret: secretOf(9) })).toMatchObject({ code: "bad_signature" });
});

test("signatures of other versions, and what is no signature, are passed over", async () => {
  const request = signed();
  const signature = request.headers["webhook-signature"];
  const withSignature = (text: string) => ({ ...request, headers: { ...request.headers, "webhook-signature": text } });
  expect((await verifyWebhook(withSignature(`v1a,AAAA v1,%% v1, ${signature}`))).id).toBe("w1");
  for (const text of [
    signature.slice(3),
    signature.replace("v1,", "v2,"),
    "v1,",
    `${signature.slice(0, 20)}`,
    "v1,AAAA",
  ])
    expect(await refusal(withSignature(text))).toMatchObject({ code: "bad_signature" });
});

test.each(["webhook-id", "webhook-timestamp", "webhook-signature"])("without %s it is refused", async (name) => {
  const request = signed();
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([given]) => given !== name));
  expect(await refusal({ ...request, headers })).toMatchObject({ code: "missing_header" });
  expect(await refusal({ ...request, headers: new Headers(headers) })).toMatchObject({ code: "missing_header" });
});

test("another id or another time than the signed one is refused", async () => {
  const request = signed();
  for (const changed of [{ "webhook-id": "w2" }, { "webhook-timestamp": `${nowMs / 1000 + 1}` }])
    expect(await refusal({ ...request, headers: { ...request.headers, ...changed } })).toMatchObject({
      code: "bad_signature",
    });
});

test("the time may differ by five minutes, or by the given tolerance, and no more", async () => {
  for (const seconds of [-300, 300])
    expect((await verifyWebhook(signed({ atMs: nowMs + seconds * 1000 }))).id).toBe("w1");
  for (const seconds of [-301, 301])
    expect(await refusal(signed({ atMs: nowMs + seconds * 1000 }))).toMatchObject({
      code: "bad_timestamp",
      message: `The time of the webhook is 301 s ${seconds < 0 ? "old" : "ahead"}: check this machine's clock.`,
    });
  expect((await verifyWebhook({ ...signed({ atMs: nowMs - 900_000 }), toleranceSeconds: 900 })).id).toBe("w1");
});

test("a signed body that is not one of Herald's is refused", async () => {
  for (const body of ["", "[]", "null", '{"type":"message.unreached"}', '{"type":1,"timestamp":"t","data":{}}'])
    expect(await refusal(signed({ body }))).toMatchObject({ code: "bad_payload" });
});

test("a secret that cannot be one is told as such", async () => {
  for (const wrong of ["", "whsec_", "whsec_%%", [] as string[]]) {
    const error = await verifyWebhook({ ...signed(), secret: wrong }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HeraldArgumentError);
  }
});
