import { HeraldArgumentError } from "../errors.ts";
import type { DeliveryCounts, Waited } from "../types.ts";
import type { CallOptions } from "./exchange.ts";

/** The options of a send. */
export type SendOptions = CallOptions & {
  /**
   * Waits for the delivery: resolves when everyone who is online has the message and every connection that acknowledges has
   * acknowledged it, or after this many seconds (a whole number from 1; the server waits 30 at most). The result then has
   * `delivery`, unless too many callers are waiting.
   */
  wait?: number | undefined;
};

const mostSeconds = 30;
const names = ["recipients", "online", "delivered", "acknowledged"] as const;

/** The headers of a send, and how much longer it may take. Throws `HeraldArgumentError`. */
export function preferenceOf({ wait }: SendOptions): { headers: Record<string, string>; waitMs: number } {
  if (wait === undefined) return { headers: {}, waitMs: 0 };
  if (!Number.isInteger(wait) || wait < 1)
    throw new HeraldArgumentError(`wait must be a whole number of seconds from 1, not ${wait}`);
  return { headers: { Prefer: `wait=${wait}` }, waitMs: Math.min(wait, mostSeconds) * 1000 };
}

/** Adds what the headers of a response tell of the wait. */
export function withDelivery<Answer extends object>(answer: Answer, headers: Headers): Answer & Waited {
  const delivery = readDelivery(headers.get("Herald-Delivery"));
  return { ...answer, ...(delivery !== undefined && { delivery }) };
}

/** Reads a dictionary of whole numbers (RFC 8941, section 3.2); `undefined` if one of ours is missing. */
function readDelivery(header: string | null): DeliveryCounts | undefined {
  const counts = new Map((header ?? "").split(",").map((member) => splitAt(member.trim())));
  const [recipients, online, delivered, acknowledged] = names.map((name) => counts.get(name));
  if (recipients === undefined || online === undefined || delivered === undefined || acknowledged === undefined)
    return undefined;
  return { recipients, online, delivered, acknowledged };
}

function splitAt(member: string): [name: string, count: number | undefined] {
  const [, name = "", digits] = /^([a-z]+)=(\d+)$/.exec(member) ?? [];
  return [name, digits === undefined ? undefined : Number(digits)];
}
