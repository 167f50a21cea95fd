import { toIso } from "../../contract/identifiers.ts";
import { mostPayloadBytes, type Unreached } from "../../contract/webhooks/payloads.ts";
import type { EventText, ReportedEvent, WebhookDelivery } from "../../store/webhooks/ports.ts";

/** A list of users that fits into one post, as JSON. */
export type Part = string;

/** How many deliveries one commit writes at most, up to 20 kB each. */
export const deliveriesOfCommit = 16;

// Everything but the event and the users: type, time, the organization (up to 128 characters) and the numbers.
const envelopeBytes = 1_000;
// The least room for the event: enough to truncate one that was edited after its parts were made.
const leastEventBytes = 3_000;
const mostEventBytes = 12_000;
const names = { message: "message", system: "system_message" } as const;

/**
 * Creates what splits users into posts under 20 kB, each with as much as fits of an event with a text of this size. Fewer users
 * never make more parts.
 */
export function createPacker({ bytes: size }: Pick<ReportedEvent, "bytes">) {
  const eventBytes = Math.min(mostEventBytes, Math.max(leastEventBytes, size));
  const room = mostPayloadBytes - envelopeBytes - eventBytes;
  let texts: string[] = [];
  let bytes = 0;

  /** The last part, if any users are left. */
  function rest(): Part[] {
    if (texts.length === 0) return [];
    const part = `[${texts.join(",")}]`;
    texts = [];
    bytes = 0;
    return [part];
  }

  return {
    /** Takes the next users; returns the parts that are full. */
    add(users: readonly Unreached[]): Part[] {
      const parts: Part[] = [];
      for (const user of users) {
        const text = JSON.stringify(user);
        const length = Buffer.byteLength(text) + 1;
        if (bytes + length > room) parts.push(...rest());
        texts.push(text);
        bytes += length;
      }
      return parts;
    },
    rest,
  };
}

/** All parts of an event. */
export function partsOf(event: Pick<ReportedEvent, "bytes">, users: readonly Unreached[]): Part[] {
  const packer = createPacker(event);
  return [...packer.add(users), ...packer.rest()];
}

/** The body of a post about an event, with exactly the text that its recipients see, truncated if it is too long. */
export function payloadOf(
  { kind, org, payload }: EventText,
  { unreached, part, parts, waitedMs, createdAt }: WebhookDelivery,
): string {
  const type = `${names[kind]}.unreached`;
  const begin = `{"type":"${type}","timestamp":"${toIso(createdAt)}","data":{"organizationId":${JSON.stringify(org)},`;
  const end = `"unreached":${unreached},"waited_seconds":${Math.round(waitedMs / 1000)},"part":${part},"parts":${parts}}}`;
  const room = mostPayloadBytes - envelopeBytes - Buffer.byteLength(unreached);
  if (Buffer.byteLength(payload) <= room) return `${begin}${membersOf(payload)},${end}`;
  const cut = membersOf(cutEvent(payload, names[kind], room));
  return `${begin}${cut},${end.replace(/\}\}$/, ',"truncated":true}}')}`;
}

/** The body of a test post. */
export function testPayloadOf(place: { org: string; id: string }, createdAt: number): string {
  const data = { organizationId: place.org, webhook: place.id };
  return JSON.stringify({ type: "webhook.test", timestamp: toIso(createdAt), data });
}

/** An object's JSON without its braces. */
function membersOf(json: string): string {
  return json.slice(1, -1);
}

type Cuttable = { body?: string; x: object; attachments?: unknown[] };

/** Shortens the body of an event, and if that is not enough, empties `x` and then `attachments`. */
function cutEvent(payload: string, name: string, room: number): string {
  const event: Record<string, Cuttable> = JSON.parse(payload);
  const content = event[name];
  if (content === undefined) return payload;
  const sizeWithout = (change: Partial<Cuttable>) =>
    Buffer.byteLength(JSON.stringify({ [name]: { ...content, ...change } }));
  const noText = content.body === undefined ? {} : { body: "" };
  const emptied =
    [noText, { ...noText, x: {} }, { ...noText, x: {}, attachments: [] }].find(
      (change) => sizeWithout(change) <= room,
    ) ?? {};
  const left = room - sizeWithout(emptied);
  const body = content.body === undefined ? {} : { body: beginningOf(content.body, left) };
  return JSON.stringify({ [name]: { ...content, ...emptied, ...body } });
}

/** The longest prefix of whole characters that fits into `bytes` of JSON. */
function beginningOf(text: string, bytes: number): string {
  let used = 0;
  let length = 0;
  for (const character of text) {
    used += Buffer.byteLength(JSON.stringify(character)) - 2;
    if (used > bytes) break;
    length += character.length;
  }
  return text.slice(0, length);
}
