import { useState } from "preact/hooks";
import type { OnlineUser, UserConnections } from "../../sdk/types.ts";
import { useAwaited } from "./awaited.ts";
import { useConsole } from "./context.ts";
import { useRepeating } from "./loading.ts";

const lookEveryMs = 5_000;

type User = { id: string };

/** The most users that are asked about at once. */
const mostAsked = 100; // ids are part of the address, whose length servers and proxies limit

/** Users by id: how many connections they have, and when the last one ended. */
export type Presences = ReadonlyMap<string, OnlineUser>;

/**
 * The presence of the users of a list: of all, up to 100, so that they can be ordered by it, and otherwise of those that `ask` was last
 * called with, which are on the screen. One request when they change, and every 5 s. The map lacks a user while it is unknown, or
 * if the key may not read it. A failed update is ignored, because the page works without it, and repeated at the next interval.
 */
export function useOnline(org: string, listed: readonly User[]) {
  const { client, can, noteFailure } = useConsole();
  const [shown, setShown] = useState<readonly User[]>([]);
  const [online, setOnline] = useState<Presences>(new Map());
  const isOfAll = listed.length <= mostAsked;
  const uids = (isOfAll ? listed : shown.slice(0, mostAsked)).map(({ id }) => id);
  const [hasLooked, setHasLooked] = useState(false);
  useAwaited(can("observe") && listed.length > 0 && !hasLooked); // it may order the list, and wrap rows
  const look = async () => {
    if (uids.length === 0 || !can("observe")) return;
    try {
      const { items } = await client.listOnline(org, { uids, limit: mostAsked, last_seen: true });
      setOnline(new Map(items.map((user) => [user.id, user])));
    } catch (error) {
      noteFailure(error);
    }
    setHasLooked(true);
  };
  useRepeating(look, lookEveryMs, [org, uids.join("\n")]);
  return { online, isOfAll, ask: setShown };
}

/**
 * A user's connections, and how the last one ended, updated every 5 s and by `look`; `undefined` while unknown, or if the key may not
 * read them.
 */
export function useConnections(org: string, uid: string) {
  const { client, can, noteFailure } = useConsole();
  const [known, setKnown] = useState<UserConnections>();
  const [hasLooked, setHasLooked] = useState(false);
  useAwaited(can("observe") && !hasLooked);
  const look = async () => {
    if (!can("observe")) return;
    try {
      setKnown(await client.listConnections(org, uid));
    } catch (error) {
      noteFailure(error);
    }
    setHasLooked(true);
  };
  useRepeating(look, lookEveryMs, [org, uid]);
  return { connections: known?.items, known, look };
}
