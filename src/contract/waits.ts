import { z } from "zod";
import { preferenceIn } from "../lib/network/prefer.ts";

const maxWaitSeconds = 30;

/** The request headers of the operations that send. */
export const waitRequestHeaders = z.strictObject({
  Prefer: z
    .string()
    .optional()
    .meta({
      description: `\`wait=N\` (RFC 7240): answer when everyone who was online has it and every connection that acknowledges has acknowledged, or after N seconds. N is 1 to ${maxWaitSeconds}; more counts as ${maxWaitSeconds}. Ignored by a dry run, if it cannot be understood, and while too many callers are waiting.`,
      examples: ["wait=5"],
    }),
});

/** The headers of an answer that waited, for the documents. */
export const waitedHeaders = {
  "Preference-Applied": "`wait=N` if the response waited for the delivery, at most N seconds",
  "Herald-Delivery":
    "with `Preference-Applied`, the delivery so far, in users: `recipients=3, online=2, delivered=2, acknowledged=1` (a dictionary of RFC 8941). Those who were online when it was delivered, those it was written to, and those whose client acknowledged it. A retry tells what the delivery report knows",
};

/** What became of a send while its caller waited, in users. */
export type DeliveryCounts = { recipients: number; online: number; delivered: number; acknowledged: number };

/**
 * The seconds that the `wait` preference of a `Prefer` header asks for (RFC 7240, section 4.3), at most 30; `undefined` if it has none or that is not a whole number from 1, which is then ignored.
 */
export function waitSecondsIn(prefer: string): number | undefined {
  const value = preferenceIn(prefer, "wait");
  if (value === undefined || !/^\d+$/.test(value)) return undefined;
  const seconds = Math.min(Number(value), maxWaitSeconds);
  return seconds >= 1 ? seconds : undefined;
}

/** The headers of an answer that waited. `Herald-Delivery` is a dictionary (RFC 8941, section 3.2). */
export function waitHeaders(seconds: number, { recipients, online, delivered, acknowledged }: DeliveryCounts) {
  return {
    "Preference-Applied": `wait=${seconds}`,
    "Herald-Delivery": `recipients=${recipients}, online=${online}, delivered=${delivered}, acknowledged=${acknowledged}`,
  };
}
