import { HeraldError } from "../../contract/errors/errors.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { KeyWrites } from "../../store/keys/ports.ts";

/** Collects which keys are used, and tells the store now and then; no request waits for it. */
export type KeyUsage = {
  note(id: string): void;
  /** Writes the usage since the last call. Never rejects: what cannot be written is retried by the next call. */
  flush(): Promise<void>;
};

const idsPerWrite = 500;

type Options = { keys: Pick<KeyWrites, "markUsed">; clock: Clock; onError(error: unknown): void };

/** Creates usage tracking whose times are as coarse as the intervals between calls of `flush`. */
export function createKeyUsage({ keys, clock, onError }: Options): KeyUsage {
  const used = new Set<string>();
  return {
    note: (id) => void used.add(id),
    async flush() {
      const ids = [...used];
      used.clear();
      for (let start = 0; start < ids.length; start += idsPerWrite) {
        try {
          await keys.markUsed(ids.slice(start, start + idsPerWrite), clock.now());
        } catch (error) {
          for (const id of ids.slice(start)) used.add(id);
          if (!(error instanceof HeraldError)) onError(error); // an outage of the store is reported elsewhere
          return;
        }
      }
    },
  };
}
