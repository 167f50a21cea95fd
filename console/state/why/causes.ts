import type { UserConnections } from "../../../sdk/types.ts";
import { closeCodes } from "../../../src/contract/connections/close-codes.ts";

/** A text in which times stand between words. */
export type Said = (string | { at: string })[];

type Refused = NonNullable<UserConnections["last_refused"]>["check"];
type Ended = NonNullable<UserConnections["last_ended"]>;

/** What each check of a token says. */
export const whyRefused: Record<Refused, string> = {
  expired: "it had expired; their app has to fetch a fresh one.",
  claims: "it is not made for this server, or valid for too long; check what issues it.",
  revoked: "it was revoked, or they were signed out; their app has to fetch a fresh one.",
  blocked: "they were blocked then.",
  limit: "they, or the organization, had too many connections or requests.",
};

/** Codes that clients and browsers use, too, or that say little (RFC 6455, section 7.4.1). */
const ofClients: Record<number, string> = {
  1000: "the client closed the connection",
  1001: "the client or the server went away",
  1005: "the client closed the connection",
  1006: "the line broke, or the client did not answer any more",
  1012: "Herald closed it, so that the client reconnects: the node stopped, or an administrator closed it",
};

/** How the last connection ended, after its time: `: the line broke.` */
export function whyEnded({ code, was_slow }: Ended): string {
  if (was_slow === true) return ": it was cut because it read too slowly, or hung up while bytes were waiting.";
  if (code === undefined) return "; Herald does not keep why.";
  if (code === null) return ", when their stream ended.";
  const known = ofClients[code] ?? Object.values(closeCodes).find((one) => one.code === code)?.meaning;
  return `: ${known ?? "the client closed the connection"} (${code}).`;
}
