import { useEffect, useRef, useState } from "preact/hooks";
import { type Client, type ClientState, createClient } from "../../sdk/client.ts";
import { type Demo, demoConversation } from "./demo.ts";
import { type Entry, withMessage, withSystemMessage } from "./entries.ts";
import { explain, isAbsence } from "./explain.ts";

/** What is known of a connection: how it stands, when it is tried again, and what went wrong. */
export type Standing = { state: ClientState; retryInMs?: number | undefined; problem?: string | undefined };

/** A person's client. */
export type Person = { standing: Standing; entries: Entry[]; goOffline(): void; comeBack(): void };

const historyShown = 20;

/** Connects a person with the SDK for as long as the component is there, and keeps what was heard. */
export function useClient(demo: Demo, uid: string): Person {
  const [standing, setStanding] = useState<Standing>({ state: "connecting" });
  const [entries, setEntries] = useState<Entry[]>([]);
  const client = useRef<Client | undefined>(undefined);

  useEffect(() => {
    let isCatchingUp = false;
    let hasConnected = false;
    let problem: string | undefined;

    /** What the connection itself does not bring: the messages from before the first time, or after too large a gap. */
    async function readHistory(from: Client): Promise<void> {
      const isGap = hasConnected;
      const messages = (await from.listMessages({ cid: demoConversation, limit: historyShown })).reverse();
      setEntries((before) => messages.reduce((all, message) => withMessage(all, message, isGap), before));
    }

    async function catchUp(from: Client): Promise<void> {
      isCatchingUp = hasConnected;
      if (!hasConnected) await readHistory(from);
      hasConnected = true;
      await from.ping(); // answered after what was missed
      isCatchingUp = false;
    }

    const made = createClient({
      url: location.origin,
      token: () => demo.token(uid),
      deviceId: "demo page",
      onMessage: (message) => {
        const wasMissed = isCatchingUp;
        setEntries((before) => withMessage(before, message, wasMissed));
      },
      onSystemMessage: (message) => setEntries((before) => withSystemMessage(before, message)),
      onStateChange(state, { retryInMs }) {
        if (state === "connected") {
          problem = undefined;
          catchUp(made).catch(() => undefined); // it broke meanwhile, and is caught up the next time
        }
        setStanding({ state, retryInMs, problem });
      },
      onGap: () => void readHistory(made).catch(() => undefined),
      onError(error) {
        problem = isAbsence(error) ? undefined : explain(error);
      },
    });
    client.current = made;
    made.start();
    return () => made.stop();
  }, [demo, uid]);

  return {
    standing,
    entries,
    goOffline: () => client.current?.stop(),
    comeBack: () => client.current?.start(),
  };
}
