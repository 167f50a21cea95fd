import { mostPayloadBytes } from "../../contract/webhooks/payloads.ts";
import type { PresencePart } from "../../store/presence/ports.ts";

// Type, time, the organization (up to 128 characters) and the number.
const envelopeBytes = 1_000;
const room = mostPayloadBytes - envelopeBytes;

/** Who comes and who goes. */
export type Changes = { online: Iterable<string>; offline: Iterable<string> };

/** Splits changes into parts that fit into a post each, one after the other: those who go come last. */
export function* presencePartsOf({ online, offline }: Changes): Generator<PresencePart, void> {
  let part: PresencePart = { online: [], offline: [] };
  let bytes = 0;
  for (const [list, uids] of [["online", online] as const, ["offline", offline] as const])
    for (const uid of uids) {
      const length = Buffer.byteLength(JSON.stringify(uid)) + 1;
      if (bytes + length > room) {
        yield part;
        part = { online: [], offline: [] };
        bytes = 0;
      }
      part[list].push(uid);
      bytes += length;
    }
  if (bytes > 0) yield part;
}
