import type { Bus, Hint } from "../../bus/bus.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import type { LogPage } from "../../contract/log/log-place.ts";
import { createSeen } from "../../lib/caches/seen.ts";
import { objectWith } from "../../lib/json/json-values.ts";
import type { Recovery } from "../../services/messages/recovery.ts";
import { type EventFacts, sessionEndOf } from "../fanout/event-facts.ts";
import type { FeedLog } from "./sequencers.ts";

const mostTold = 1_024;

/** The place of an event that cannot be played. */
export type Unplayable = Pick<LogEvent, "org" | "offset" | "id">;

type Dependencies = {
  bus: Pick<Bus, "subscribe">;
  log: FeedLog;
  recovery: Recovery;
  /** Parses a membership change once, for this check and for everyone who plays it. */
  facts: Pick<EventFacts, "membershipOf" | "recalledBy">;
  /** Called once for each stored event that cannot be played. */
  onUnplayable(event: Unplayable): void;
};

/** Filters events that cannot be played out of hints, of the log and of what connections missed. */
export function createPlayables({ bus, log, recovery, facts, onUnplayable }: Dependencies) {
  const told = createSeen(mostTold);

  function tell({ org, offset, id }: Unplayable): void {
    if (told.isNew(id)) onUnplayable({ org, offset, id });
  }

  /**
   * Whether the payload has the shape that the kind requires. `isSaid` checks payloads that are sent to connections
   * unchanged.
   */
  function isPlayable(event: LogEvent, isSaid: (payload: string, name: string) => boolean): boolean {
    const { kind, payload, uids } = event;
    switch (kind) {
      case "message":
        return isSaid(payload, "message");
      case "system":
        return uids !== undefined && isSaid(payload, "system_message");
      case "edit":
        return isSaid(payload, "message_edit");
      case "recall":
        return isSaid(payload, "message_delete") && isReadable(() => facts.recalledBy(event));
      case "system_recall":
        return (
          uids !== undefined && isSaid(payload, "system_message_delete") && isReadable(() => facts.recalledBy(event))
        );
      case "hide":
        return uids !== undefined && isSaid(payload, "message_delete");
      case "append":
        return isSaid(payload, "message_append");
      case "reaction":
        return isSaid(payload, "message_reactions_update");
      case "read":
        return uids !== undefined && isSaid(payload, "message_read");
      case "system_read":
        return uids !== undefined && isSaid(payload, "system_message_read");
      case "membership":
        return isReadable(() => facts.membershipOf(event));
      case "session":
        return isReadable(() => sessionEndOf(event));
      case "unplayable":
        return false;
      case "blank":
      case "unknown":
        return true;
    }
  }

  function playable(event: LogEvent): LogEvent {
    if (isPlayable(event, says)) return event;
    tell(event);
    return { ...event, kind: "unplayable" };
  }

  function playableHint(hint: Hint): Hint {
    if (hint.payload === undefined || isPlayable(hint, looksLikeObject)) return hint;
    const { org, offset, id, prev } = hint;
    return { org, offset, id, prev };
  }

  return {
    /** The hints of the bus. One whose event cannot be played keeps only its place, so that the event is read from the store. */
    playableHints: {
      subscribe: (org, handler) => bus.subscribe(org, (hint) => handler(playableHint(hint))),
    } satisfies Pick<Bus, "subscribe">,
    /**
     * The log, with each unplayable event replaced by one of kind `unplayable`, which plays to nobody; the organization
     * continues after it.
     */
    playableLog: {
      heads: log.heads,
      async readFrom(org, offset, limit): Promise<LogPage> {
        const page = await log.readFrom(org, offset, limit);
        return { ...page, events: page.events.map(playable) };
      },
      readAfter: async (...range) => (await log.readAfter(...range)).map(playable),
      readShown: async (...range) => (await log.readShown(...range)).map(playable),
    } satisfies FeedLog,
    /** The events that connections missed, without unplayable ones. */
    playableRecovery: {
      resumeAfter: recovery.resumeAfter,
      readGrown: recovery.readGrown,
      async read(absence, after, maxBytes) {
        for (let from = after; ; ) {
          const page = await recovery.read(absence, from, maxBytes);
          const said = page.filter(({ offset, id, kind, cid, payload }) => {
            if (kind === "blank") return false;
            const event = { org: absence.org, offset, id, kind, cid, payload, uids: [] }; // whose it is was decided
            const isSaid = isPlayable(event, says);
            if (!isSaid) tell(event);
            return isSaid;
          });
          const last = page.at(-1);
          if (last === undefined || said.length > 0) return said; // an empty page would end the replay
          from = last.offset;
        }
      },
    } satisfies Recovery,
  };
}

/** Suffices for hints, which the node that wrote the event has signed; parsing each one would be too expensive. */
function looksLikeObject(payload: string): boolean {
  return payload.startsWith("{") && payload.endsWith("}");
}

/** Whether a payload is an object that holds an object under `name`. */
function says(payload: string, name: string): boolean {
  return objectWith(payload, name) !== undefined;
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
