import type { Typing } from "./types.ts";

/** How long a status holds unless it is repeated. */
const holdsMs = 10_000;

/** Ends what users type. */
export type Typists = ReturnType<typeof createTypists>;

/** Creates what ends each status: after 10 s, or with a message of the user. `tell` is called with each, and with the end of one. */
export function createTypists(tell: (typing: Typing) => void) {
  const timers = new Map<string, { typing: Typing; timer: ReturnType<typeof setTimeout> }>();
  const keyOf = ({ cid, from }: Pick<Typing, "cid" | "from">) => JSON.stringify([cid, from]);

  /** Forgets a status, and returns it. */
  function forget(key: string): Typing | undefined {
    const known = timers.get(key);
    clearTimeout(known?.timer);
    timers.delete(key);
    return known?.typing;
  }

  function end(key: string) {
    const typing = forget(key);
    if (typing) tell({ ...typing, status: "stop" });
  }

  return {
    hear(typing: Typing) {
      const key = keyOf(typing);
      forget(key);
      if (typing.status === "start") timers.set(key, { typing, timer: setTimeout(() => end(key), holdsMs) });
      tell(typing);
    },
    /** A message of a user ends what the user types. */
    said: (message: Pick<Typing, "cid" | "from">) => end(keyOf(message)),
    /** Ends all, without telling it. */
    stop() {
      for (const key of [...timers.keys()]) forget(key);
    },
  };
}
