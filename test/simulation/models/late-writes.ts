import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import { aboutOf } from "./changes.ts";
import type { Database } from "./database.ts";
import { lastsAt } from "./organization.ts";
import type { Wire } from "./socket.ts";

type Options = {
  database: Pick<Database, "eventOf" | "expiryOf" | "get">;
  /** Whether events expire. */
  expires: boolean;
  now(): number;
  onError(error: Error): void;
};

/**
 * Watches that a node writes no text after it has played the recall of its message, unless the log has lost the recall, and no
 * event that has expired.
 */
export function watchLateWrites({ database, expires, now, onError }: Options) {
  /** Recalls that were played, by the id of each message. */
  const recalls = new Map<string, { recall: LogEvent; at: number }>();

  /** What a stream hands out may be a moment old. */
  function recallBefore(text: string, sinceMs: number): { recall: LogEvent; event: LogEvent } | undefined {
    const event = recalls.size === 0 ? undefined : database.eventOf(text);
    if (event === undefined || isRecall(event)) return undefined;
    const found = recalls.get(event.kind === "edit" ? (aboutOf(event)[0] ?? "") : event.id);
    if (found === undefined || now() - found.at < sinceMs) return undefined;
    const { recall } = found;
    return database.get(recall.org).commits[recall.offset]?.event.id === recall.id ? { recall, event } : undefined;
  }

  function tell({ id }: LogEvent, recall: LogEvent): void {
    onError(new Error(`${id} is written after its recall, ${recall.id}, was played`));
  }

  /** What is wrong with a text that is written now: it has expired. */
  function expiryBefore(text: string): Error | undefined {
    const event = expires ? database.eventOf(text) : undefined;
    const expiresAt = event && database.expiryOf(event);
    if (event === undefined || lastsAt({ expiresAt }, now())) return undefined;
    return new Error(`${event.id} is written after it has expired at ${expiresAt}`);
  }

  return {
    /** Called with each event that the node plays. */
    played(event: LogEvent): void {
      if (isRecall(event)) for (const id of aboutOf(event)) recalls.set(id, { recall: event, at: now() });
    },
    /** Called with each text that the node writes to a socket. */
    onWrite(text: string): void {
      const late = recallBefore(text, 0);
      if (late !== undefined) tell(late.event, late.recall);
      const expired = expiryBefore(text);
      if (expired !== undefined) onError(expired);
    },
    /**
     * A wire whose texts are checked when they arrive, as a stream is handed them only when it asks. The last texts of one
     * that ended were handed over then, so a late text counts once the stream hears of the recall, and one that has expired
     * once the stream goes on.
     */
    watched(wire: Wire): Wire {
      const late = new Map<string, LogEvent>(); // by the id of the recall
      let expired: { error: Error; at: number } | undefined;
      return {
        get bytesPerMs() {
          return wire.bytesPerMs;
        },
        onText(text) {
          const found = recallBefore(text, 1);
          if (found !== undefined) late.set(found.recall.id, found.event);
          const recall = late.size === 0 ? undefined : database.eventOf(text);
          const event = recall && late.get(recall.id);
          if (recall !== undefined && event !== undefined) tell(event, recall);
          if (expired !== undefined && now() > expired.at) onError(expired.error);
          const error = expiryBefore(text);
          if (error !== undefined) expired ??= { error, at: now() };
          wire.onText(text);
        },
        onSubscribed: wire.onSubscribed,
        onEnd: wire.onEnd,
      };
    },
  };
}

function isRecall({ kind }: LogEvent): boolean {
  return kind === "recall" || kind === "system_recall";
}
