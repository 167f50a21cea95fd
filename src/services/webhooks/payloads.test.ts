import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Unreached } from "../../contract/webhooks/payloads.ts";
import type { WebhookDelivery } from "../../store/webhooks/ports.ts";
import { partsOf, payloadOf } from "./payloads.ts";

const deliveryOf = (unreached: string, change: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  org: "o",
  webhook: "w",
  id: "d",
  state: "waiting",
  eventId: "e",
  part: 1,
  parts: 1,
  unreached,
  waitedMs: 10_000,
  createdAt: Date.UTC(2026, 10, 20),
  tries: 0,
  nextTryAt: 0,
  lastTry: null,
  expiresAt: 0,
  ...change,
});

const wide = fc.constantFrom("a", "é", "👋", '"', "\\", "\u2028", "界");
const id = fc.array(wide, { minLength: 1, maxLength: 128 }).map((characters) => characters.join(""));
const text = (maxLength: number) =>
  fc.tuple(wide, fc.nat(maxLength)).map(([character, length]) => character.repeat(length));
const messages = fc.record({
  _id: fc.uuid(),
  t: fc.nat(),
  from: id,
  body: text(65_536),
  cid: id,
  x: text(8_000).map((value) => ({ value })),
  attachments: fc.array(fc.record({ file_id: fc.uuid(), file_name: text(255) }), { maxLength: 20 }),
  created_at: fc.constant("2026-11-20T13:06:00.123Z"),
});
const sizeOf = (message: object) => Buffer.byteLength(JSON.stringify({ message }));

test("any message to any users is posted in parts under 20 kB, each user in one, also if it was edited meanwhile", () => {
  const users = fc.array(id, { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(id, messages, messages, users, (org, before, after, uids) => {
      const all = uids.map((uid): Unreached => ({ uid, reason: "unacknowledged" }));
      const parts = partsOf({ bytes: sizeOf(before) }, all);
      expect(parts.flatMap((part) => JSON.parse(part))).toEqual(all);
      for (const [index, part] of parts.entries())
        for (const message of [before, { ...after, from: before.from, cid: before.cid }]) {
          const delivery = deliveryOf(part, { part: index + 1, parts: parts.length });
          const body = payloadOf({ org, id: "e", kind: "message", payload: JSON.stringify({ message }) }, delivery);
          expect(Buffer.byteLength(body)).toBeLessThan(20_000);
          const { data } = JSON.parse(body);
          expect([data.organizationId, data.part, data.parts]).toEqual([org, index + 1, parts.length]);
          expect(data.unreached).toEqual(JSON.parse(part));
          const { body: shown, x, attachments, ...rest } = data.message;
          const { body: whole, x: parameters, attachments: files, ...others } = message;
          expect(rest).toEqual(others);
          expect(whole.startsWith(shown) && shown.isWellFormed()).toBe(true);
          if (data.truncated === undefined) expect([shown, x, attachments]).toEqual([whole, parameters, files]);
          else expect(sizeOf(message)).toBeGreaterThan(3_000);
        }
    }),
    { numRuns: 60 },
  );
});

test("a message that fits is posted with the very text that its recipients see", () => {
  const payload = '{"message":{"_id":"1","x":{"b":1.0,"2":1e3,"__proto__":{},"a":"\\u0041"},"body":"hello"}}';
  const body = payloadOf(
    { org: "o", id: "1", kind: "message", payload },
    deliveryOf('[{"uid":"u","reason":"offline"}]'),
  );
  expect(body).toBe(
    `{"type":"message.unreached","timestamp":"2026-11-20T00:00:00.000Z","data":{"organizationId":"o",${payload.slice(1, -1)},"unreached":[{"uid":"u","reason":"offline"}],"waited_seconds":10,"part":1,"parts":1}}`,
  );
});
