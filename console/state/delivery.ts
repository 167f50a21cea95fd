import { useEffect, useState } from "preact/hooks";
import type { AdminClient } from "../../sdk/admin/admin.ts";
import type { Delivery, MessageReport, SystemMessageReport } from "../../sdk/types.ts";
import { useConsole } from "./context.ts";
import { useWhenBack } from "./loading.ts";

/** A delivery report. `by_user` is present for system messages to listed users, and the counts before a change for messages. */
export type Report = Delivery &
  Pick<SystemMessageReport["delivery"], "by_user"> &
  Pick<MessageReport["delivery"], "acknowledged_before_edit" | "acknowledged_before_recall"> & {
    /** Whether the recipients can be listed. Those of a system message to everyone cannot. */
    isListed: boolean;
    /** Whether users who were offline get it later. */
    isKept: boolean;
    recalled_at: string | undefined;
    expired_at: string | undefined;
    superseded_by?: string | undefined;
    /** What was sent. What was taken back or has expired has no content any more. */
    said: MessageReport["message"] | SystemMessageReport["system_message"];
    /** The key that sent it, by id. */
    key_id: string | null;
  };

/** Identifies a send: a message by its `server_mid`, a system message by its id and sender. */
export type SentId = { kind: "message"; id: string } | { kind: "system_message"; id: string; senderId?: string };

/** Reads the report of a send. */
export async function readDelivery(client: AdminClient, org: string, sent: SentId): Promise<Report> {
  if (sent.kind === "message") {
    const { delivery, recalled_at, expired_at, message, key_id } = await client.getMessage(org, sent.id);
    return { ...delivery, recalled_at, expired_at, isListed: true, isKept: true, said: message, key_id };
  }
  const { senderId } = sent;
  const report = await client.getSystemMessage(org, sent.id, senderId === undefined ? {} : { senderId });
  const { delivery, system_message: said, recalled_at, expired_at, superseded_by, key_id } = report;
  const isListed = delivery.by_user !== undefined || said.cid !== undefined;
  const isKept = said.created_at !== undefined;
  return { ...delivery, recalled_at, expired_at, superseded_by, isListed, isKept, said, key_id };
}

type Prospects = Pick<Report, "recalled_at" | "expired_at" | "superseded_by" | "isKept">;

/** Whether users who do not have it will get it. */
export function outlookOf(kind: SentId["kind"], { recalled_at, expired_at, superseded_by, isKept }: Prospects): string {
  if (recalled_at !== undefined) return "It was taken back, so the other users do not receive it.";
  if (expired_at !== undefined) return "It has expired, so the other users do not receive it.";
  if (kind === "message")
    return "The other users are offline. They receive the message when their clients reconnect and recover what they missed.";
  if (!isKept) return "The other users were offline. It is not kept, so they do not receive it.";
  if (superseded_by !== undefined)
    return "The other users were offline. They find it, or a newer one with its key, in their inboxes.";
  return "The other users were offline. They find it in their inboxes.";
}

/** The report, and whether it is still being updated. */
export type Following = { delivery: Report | undefined; error: unknown; isFollowing: boolean; again(): void };

/** Few, because each one reads history and adds an entry to the audit log. */
const waitsMs = [250, 500, 1_000, 2_000, 4_000];

/**
 * Reads a report up to six times within eight seconds, at short intervals first, until everybody has received the send, or nobody
 * will any more. Anyone still missing is offline or slow to reach: `again` starts over.
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
        const isOnItsWay = delivery.recalled_at === undefined && delivery.expired_at === undefined;
        const isAwaited = isOnItsWay && delivery.delivered_users < delivery.recipients;
        const waitMs = isAwaited ? waitsMs[looks++] : undefined;
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
  const again = () => setTurn((now) => now + 1);
  useWhenBack(state.error !== undefined, again);
  return { ...state, again };
}
