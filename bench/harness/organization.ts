import { idPlaceholder } from "./clients/lane.ts";

/** The organization of every run, its only sender and its API key. */
export const benchOrg = {
  key: "bench-key-0123456789abcdefghijklmnopqrstuvwxyz",
  id: "bench",
  sender: "sender",
  /** A conversation whose only participant is the sender, and which nobody hears. */
  quiet: "quiet",
} as const;

/** The message used for every figure: 100 characters, one parameter, no attachment. */
export function sendBody(cid: string, org: string = benchOrg.id): object {
  const body = "The quick brown fox jumps over the lazy dog, and then it does so once more, until the line is full.";
  return {
    organizationId: org,
    senderId: benchOrg.sender,
    message: { id: idPlaceholder, body: `${body}!`, cid, x: { kind: "note" } },
  };
}

/** A system message to these users. */
export function systemBody(uids: readonly string[]): object {
  return {
    organizationId: benchOrg.id,
    senderId: benchOrg.sender,
    messageSystem: { id: idPlaceholder, uids, x: { kind: "note" } },
  };
}

/** A system message to everyone in an organization, which inboxes keep for `keepDays`. */
export function everyoneBody(org: string, keepDays?: number): object {
  return {
    organizationId: org,
    senderId: benchOrg.sender,
    messageSystem: { id: idPlaceholder, everyone: true, x: { kind: "note" }, keep_days: keepDays },
  };
}

/** A response like Herald's, with the same length. */
export const sampleAnswer = {
  ask: { mid: idPlaceholder, server_mid: "00000000-0000-7000-8000-000000000000", t: 1_700_000_000 },
};
