import { useEffect, useState } from "preact/hooks";
import type { AdminClient } from "../../sdk/admin/admin.ts";
import type { Delivery, MessageReport, SystemMessageReport } from "../../sdk/types.ts";
import { useConsole } from "./context.ts";

/** A delivery report. `by_user` is present for system messages to listed users, and the counts before a change for messages. */
export type Report = Delivery &
  Pick<SystemMessageReport["delivery"], "by_user"> &
  Pick<MessageReport["delivery"], "acknowledged_before_edit" | "acknowledged_before_recall"> & {
    /** Whether the recipients can be listed. Those of a system message to everyone cannot. */
    isListed: boolean;
  };

/** Identifies a send: a message by its `server_mid`, a system message by its id and sender. */
export type SentId = { kind: "message"; id: string } | { kind: "system_message"; id: string; senderId?: string };

async function readDelivery(client: AdminClient, org: string, sent: SentId): Promise<Report> {
  if (sent.kind === "message") return { ...(await client.getMessage(org, sent.id)).delivery, isListed: true };
  const { senderId } = sent;
  const report = await client.getSystemMessage(org, sent.id, senderId === undefined ? {} : { senderId });
  const { delivery, system_message } = report;
  return { ...delivery, isListed: delivery.by_user !== undefined || system_message.cid !== undefined };
}

/** The report, and whether it is still being updated. */
export type Following = { delivery: Report | undefined; error: unknown; isFollowing: boolean; again(): void };

/** Few, because each one reads history and adds an entry to the audit log. */
const waitsMs = [250, 500, 1_000, 2_000, 4_000];

/**
 * Reads a report up to six times within eight seconds, at short intervals first, until everybody has received the send. Anyone still
 * missing is offline or slow to reach: `again` starts over.
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
    const look = async () => {
      try {
        const delivery = await readDelivery(client, org, sent);
        if (isOver) return;
        const waitMs = delivery.delivered_users >= delivery.recipients ? undefined : waitsMs[looks++];
        setState({ delivery, error: undefined, isFollowing: waitMs !== undefined });
        if (waitMs !== undefined) timer = setTimeout(() => void look(), waitMs);
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
