import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { createClient } from "../../sdk/client.ts";
import type { Client, ClientState } from "../../sdk/client-options.ts";
import type { MessageAppend } from "../../sdk/types.ts";
import type { InboxSnapshot, InboxView } from "../../sdk/views/inbox.ts";
import { serverUrl } from "../state/server.ts";
import { type Demo, demoConversation } from "./demo.ts";
import {
  type Entry,
  withEdit,
  withMessage,
  withMore,
  withRecall,
  withSystemMessage,
  withSystemRecall,
} from "./entries.ts";
import { explain, isAbsence } from "./explain.ts";

/** The status of a connection: its state, the time until the next attempt, and the last problem. */
export type Standing = { state: ClientState; retryInMs?: number | undefined; problem?: string | undefined };

/** A user's inbox as it is now, and what the user can do with it. */
export type Inbox = InboxSnapshot & Pick<InboxView, "markRead" | "markSeen" | "loadMore">;

/** A user's client. */
export type Person = {
  standing: Standing;
  entries: Entry[];
  /** The users who are typing. */
  typists: string[];
  inbox: Inbox;
  fileUrl: Client["fileUrl"];
  goOffline(): void;
  comeBack(): void;
};

const historyShown = 20;
const noInbox: InboxSnapshot = { items: [], unread: 0, hasMore: false, isLoaded: false, error: undefined };

/** Connects a user through the SDK while the component is mounted, and collects what arrives. */
export function useClient(demo: Demo, uid: string): Person {
  const [standing, setStanding] = useState<Standing>({ state: "connecting" });
  const [entries, setEntries] = useState<Entry[]>([]);
  const [typists, setTypists] = useState<string[]>([]);
  const [inbox, setInbox] = useState(noInbox);
  const client = useRef<Client | undefined>(undefined);

  useEffect(() => {
    let isCatchingUp = false;
    let hasConnected = false;
    let hasHistory = false;
    let problem: string | undefined;

    /** Reads messages that the connection does not deliver: those before the first connect, or after too large a gap. */
    async function readHistory(from: Client): Promise<void> {
      const isGap = hasHistory;
      const messages = (await from.listMessages({ cid: demoConversation, limit: historyShown })).reverse();
      setEntries((before) => messages.reduce((all, message) => withMessage(all, message, isGap), before));
      hasHistory = true;
    }

    async function catchUp(from: Client): Promise<void> {
      isCatchingUp = hasConnected;
      hasConnected = true;
      if (!hasHistory) await readHistory(from); // a user who leaves at once reads it after the next connect
      await from.ping(); // answered after what was missed
      isCatchingUp = false;
    }

    /** Adds a piece of a message. Where text before it is missing, the messages are read again. */
    function grow(piece: MessageAppend): void {
      setEntries((before) => {
        const grown = withMore(before, piece);
        if (grown === undefined) readHistory(made).catch(() => undefined);
        return grown ?? before;
      });
    }

    const made = createClient({
      url: serverUrl,
      token: () => demo.token(uid),
      deviceId: "demo page",
      onMessage: (message) => {
        const wasMissed = isCatchingUp;
        setEntries((before) => withMessage(before, message, wasMissed));
      },
      onSystemMessage: (message) => {
        const wasMissed = isCatchingUp;
        setEntries((before) => withSystemMessage(before, message, wasMissed));
      },
      onMessageEdit: (edit) => setEntries((before) => withEdit(before, edit)),
      onMessageAppend: grow,
      onMessageDelete: (recall) => setEntries((before) => withRecall(before, recall)),
      onSystemMessageDelete: (recall) => setEntries((before) => withSystemRecall(before, recall)),
      onTyping({ from, status }) {
        setTypists((before) => [...before.filter((uid) => uid !== from), ...(status === "start" ? [from] : [])]);
      },
      onStateChange(state, { retryInMs }) {
        if (state === "stopped") setTypists([]);
        if (state === "connected") {
          problem = undefined;
          catchUp(made).catch(() => undefined); // the connection was lost; the next one catches up
        }
        setStanding({ state, retryInMs, problem });
      },
      onGap: () => void readHistory(made).catch(() => undefined),
      onError(error) {
        problem = isAbsence(error) ? undefined : explain(error);
      },
    });
    client.current = made;
    const leave = made.inbox.subscribe(() => setInbox(made.inbox.getSnapshot()));
    made.start();
    return () => {
      leave();
      made.stop();
    };
  }, [demo, uid]);

  const fileUrl = useCallback(async (fileId: string) => await client.current?.fileUrl(fileId), []);

  return {
    standing,
    entries,
    typists,
    inbox: {
      ...inbox,
      markRead: async (ids) => await client.current?.inbox.markRead(ids),
      markSeen: async (ids) => await client.current?.inbox.markSeen(ids),
      loadMore: async () => await client.current?.inbox.loadMore(),
    },
    fileUrl,
    goOffline: () => client.current?.stop(),
    comeBack: () => client.current?.start(),
  };
}
