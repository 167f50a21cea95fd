import { toIso, toSeconds } from "../../contract/identifiers.ts";
import type { SystemMessageEvent } from "../../contract/messages/events.ts";

/** What a system message says. Times in milliseconds since the Unix epoch. */
export type SystemContent = {
  mid: string;
  sender: string;
  x: Record<string, unknown>;
  cid: string | undefined;
  createdAt: number;
  isKept: boolean;
  key: string | undefined;
  silent: true | undefined;
  expiresAt: number | undefined;
};

/** The text of the event of a system message: the same for one that is sent, and for one that an import brings. */
export function systemPayloadOf(content: SystemContent): string {
  const { mid, sender, x, cid, createdAt, isKept, key, silent, expiresAt } = content;
  const event: SystemMessageEvent = {
    system_message: {
      _id: mid,
      t: toSeconds(createdAt),
      from: sender,
      x,
      ...(cid !== undefined && { cid }),
      ...(isKept && { created_at: toIso(createdAt) }),
      ...(key !== undefined && { key }),
      ...(silent && { silent }),
      ...(expiresAt !== undefined && { expires_at: toIso(expiresAt) }),
    },
  };
  return JSON.stringify(event);
}
