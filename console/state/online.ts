import { useState } from "preact/hooks";
import type { OnlineUser } from "../../sdk/types.ts";
import { useConsole } from "./context.ts";
import { useRepeating } from "./loading.ts";

const lookEveryMs = 5_000;
const mostAsked = 100; // ids stand in the address, which servers and proxies cut

/**
 * How many connections users have now, looked up every 5 s while they are shown. Nobody is in the map while that is not known, or
 * may not be known by this key. What fails is tried again at the next look: the page stands without it.
 */
export function useOnline(org: string, uids: readonly string[] | undefined): ReadonlyMap<string, number> {
  const { client, can, noteFailure } = useConsole();
  const [online, setOnline] = useState<ReadonlyMap<string, number>>(new Map());
  const look = async () => {
    if (uids === undefined || uids.length === 0 || !can("observe")) return;
    const found = new Map<string, number>();
    try {
      for (let start = 0; start < uids.length; start += mostAsked) {
        const part = uids.slice(start, start + mostAsked);
        const { items } = await client.listOnline(org, { uids: part, limit: mostAsked });
        for (const { id, connections } of items) found.set(id, connections);
      }
      setOnline(found);
    } catch (error) {
      noteFailure(error);
    }
  };
  useRepeating(look, lookEveryMs, [org, uids?.join("\n")]);
  return online;
}

/** One user's connections and devices, looked up every 5 s; `undefined` while that is not known, or may not be known by this key. */
export function useOnlineUser(org: string, uid: string): OnlineUser | undefined {
  const { client, can, noteFailure } = useConsole();
  const [user, setUser] = useState<OnlineUser>();
  const look = async () => {
    if (!can("observe")) return;
    try {
      setUser((await client.listOnline(org, { uids: [uid], devices: true })).items[0]);
    } catch (error) {
      noteFailure(error);
    }
  };
  useRepeating(look, lookEveryMs, [org, uid]);
  return user;
}
