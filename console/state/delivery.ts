import { useEffect, useState } from "preact/hooks";
import type { AdminClient } from "../../sdk/admin.ts";
import { path, query } from "../../sdk/paths.ts";
import { useConsole } from "./context.ts";

/** What became of an event so far. Counts of users and connections that it was played to. */
export type Delivery = {
  recipients: number;
  delivered_users: number;
  delivered_connections: number;
  acknowledged_users: number;
  first_delivered_at: string | null;
  last_delivered_at: string | null;
  /** Of system messages only. */
  by_user?: Record<string, "delivered" | "offline" | "unknown">;
};

/** Names what was sent: a message by its `server_mid`, a system message by its id and its sender. */
export type SentId = { kind: "message"; id: string } | { kind: "system_message"; id: string; senderId?: string };

/** Reads the report of what was sent. */
async function readDelivery(client: AdminClient, org: string, sent: SentId): Promise<Delivery> {
  const address =
    sent.kind === "message"
      ? path`/admin/organizations/${org}/messages/${sent.id}`
      : path`/admin/organizations/${org}/system-messages/${sent.id}` + query({ senderId: sent.senderId });
  return (await client.request<{ delivery: Delivery }>("GET", address)).delivery;
}

/** The report, and whether it is looked at again. */
export type Following = { delivery: Delivery | undefined; error: unknown; isFollowing: boolean; again(): void };

const waitsMs = [150, 250, 400, 600, 1_000, 1_500, 2_000];
const quietLooks = 4;

/**
 * Looks at a report again and again, at first soon and then every 2 s, until everybody has it or four looks in a row at the slow
 * pace saw nothing new: then whoever is missing is offline. `again` looks on.
 */
export function useDelivery(org: string, sent: SentId): Following {
  const { client, noteFailure } = useConsole();
  const [state, setState] = useState<Omit<Following, "again">>({
    delivery: undefined,
    error: undefined,
    isFollowing: true,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    let looks = 0;
    let quiet = 0;
    let before = "";
    const look = async () => {
      try {
        const delivery = await readDelivery(client, org, sent);
        if (isOver) return;
        const seen = JSON.stringify(delivery);
        quiet = seen === before ? quiet + 1 : 0;
        before = seen;
        const isSettled =
          delivery.delivered_users >= delivery.recipients || (looks >= waitsMs.length && quiet >= quietLooks);
        setState({ delivery, error: undefined, isFollowing: !isSettled });
        if (!isSettled) timer = setTimeout(() => void look(), waitsMs[looks++] ?? waitsMs.at(-1));
      } catch (error) {
        if (isOver) return;
        noteFailure(error);
        setState(({ delivery }) => ({ delivery, error, isFollowing: false }));
      }
    };
    setState((now) => ({ ...now, error: undefined, isFollowing: true }));
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [org, sent.kind, sent.id, turn]);
  return { ...state, again: () => setTurn((now) => now + 1) };
}
