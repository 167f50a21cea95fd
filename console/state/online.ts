import { useState } from "preact/hooks";
import type { UserConnection } from "../../sdk/types.ts";
import { useConsole } from "./context.ts";
import { useRepeating } from "./loading.ts";

const lookEveryMs = 5_000;
const mostAsked = 100; // ids are part of the address, whose length servers and proxies limit

/**
 * The number of connections of the shown users, updated every 5 s. The map is empty while the numbers are unknown, or if the key may
 * not read them. A failed update is ignored, because the page works without it, and repeated at the next interval.
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

/** A user's connections, updated every 5 s and by `look`; `undefined` while unknown, or if the key may not read them. */
export function useConnections(org: string, uid: string) {
  const { client, can, noteFailure } = useConsole();
  const [connections, setConnections] = useState<readonly UserConnection[]>();
  const look = async () => {
    if (!can("observe")) return;
    try {
      setConnections((await client.listConnections(org, uid)).items);
    } catch (error) {
      noteFailure(error);
    }
  };
  useRepeating(look, lookEveryMs, [org, uid]);
  return { connections, look };
}
