import type { Hint } from "../bus/bus.ts";
import type { LogEvent, LogPage } from "../contract/log-event.ts";
import { isObject, isTexts, parseJson } from "../lib/json-values.ts";
import type { Log } from "./sequencers.ts";

const mostTold = 1_024;

/** A hint whose event cannot be played is none but of its place, so that the event is read from the store. */
export function playableHint(hint: Hint): Hint {
  if (hint.payload === undefined || isPlayable(hint, looksLikeObject)) return hint;
  const { org, offset, id, prev } = hint;
  return { org, offset, id, prev };
}

/**
 * The log, with each event that cannot be played as one of kind `unplayable`, which plays to nobody: the organization goes on
 * behind it. `onUnplayable` is told of each once.
 */
export function createPlayableLog(log: Log, onUnplayable: (event: LogEvent) => void): Log {
  const told = new Set<string>();

  function tell(event: LogEvent): void {
    if (told.has(event.id)) return;
    if (told.size >= mostTold) told.clear();
    told.add(event.id);
    onUnplayable(event);
  }

  function playable(event: LogEvent): LogEvent {
    if (isPlayable(event, (payload) => isObject(parseJson(payload)))) return event;
    tell(event);
    return { ...event, kind: "unplayable" };
  }

  return {
    heads: log.heads,
    async readFrom(org, offset, limit): Promise<LogPage> {
      const page = await log.readFrom(org, offset, limit);
      return { ...page, events: page.events.map(playable) };
    },
    readAfter: async (...range) => (await log.readAfter(...range)).map(playable),
  };
}

/** Whether what an event says has the shape that its kind asks for. `isText` looks at what goes to the connections as it is. */
function isPlayable({ kind, payload, uids }: LogEvent, isText: (payload: string) => boolean): boolean {
  switch (kind) {
    case "message":
      return isText(payload);
    case "system":
      return uids !== undefined && isText(payload);
    case "membership":
      return isMembershipChange(parseJson(payload));
    case "session":
      return isSessionEnd(parseJson(payload));
    case "unplayable":
      return false;
    case "unknown":
      return true;
  }
}

/** Enough for what a node has signed that wrote it itself: to read all of each event would cost deliveries more than it is worth. */
function looksLikeObject(payload: string): boolean {
  return payload.startsWith("{") && payload.endsWith("}");
}

function isMembershipChange(value: unknown): boolean {
  return isObject(value) && isTexts(value.added) && isTexts(value.removed);
}

function isSessionEnd(value: unknown): boolean {
  return isObject(value) && (value.uids === undefined || isTexts(value.uids)) && typeof value.issuedBefore === "number";
}
