import { useEffect, useRef, useState } from "preact/hooks";
import { useConsole } from "../context.ts";
import { type Followed, followThread, type ThreadFeed } from "./follow-thread.ts";

const nothing: Followed = {
  thread: undefined,
  isLoading: true,
  error: undefined,
  standing: undefined,
  arrived: 0,
};

/** The messages of a conversation: live, if the key may follow the feed. */
export function useThread(org: string, cid: string): Followed & Pick<ThreadFeed, "reload" | "more"> {
  const { client, can, noteFailure } = useConsole();
  const feed = useRef<ThreadFeed | undefined>(undefined);
  const [, look] = useState(0);
  useEffect(() => {
    const isLive = can("observe");
    const following = followThread({ client, org, cid, isLive, onChange: () => look((turn) => turn + 1) });
    feed.current = following;
    return () => following.stop();
  }, [org, cid]);
  const state = feed.current?.state() ?? nothing;
  const { error, standing } = state;
  const refusal = error ?? (standing?.is === "ended" ? standing.error : undefined);
  useEffect(() => {
    if (refusal !== undefined) noteFailure(refusal);
  }, [refusal]);
  return { ...state, reload: () => feed.current?.reload(), more: () => feed.current?.more() };
}
