import { forgetOldest } from "../lib/forget-oldest.ts";

const mostRemembered = 65_536;

/** Remembers the questions that were answered, so that nobody has them answered again. */
export type Asked = {
  /** Whether a question comes for the first time, as far as this is remembered. */
  isNew(id: string): boolean;
};

/** Remembers the last 65,536. */
export function createAsked(limit = mostRemembered): Asked {
  const ids = new Set<string>();
  return {
    isNew(id) {
      if (ids.has(id)) return false;
      ids.add(id);
      forgetOldest(ids, limit);
      return true;
    },
  };
}
