import { useEffect, useRef, useState } from "preact/hooks";
import { useConsole } from "../context.ts";
import { useWhenBack } from "../loading.ts";
import { type Followed, followThread, type ThreadFeed } from "./follow-thread.ts";

const name = "messages"; // of the list, in the place of its page

const nothing: Followed = {
  thread: undefined,
  isLoading: true,
  error: undefined,
  standing: undefined,
  arrived: 0,
};

/** The messages of a conversation: live, if the key may follow the feed. As many as there were, when the reader comes back. */
export function useThread(org: string, cid: string): Followed & Pick<ThreadFeed, "reload" | "more"> {
  const { client, can, place, noteFailure } = useConsole();
  const feed = useRef<ThreadFeed | undefined>(undefined);
  const [, look] = useState(0);
  useEffect(() => {
    const isLive = can("observe");
    const atFirst = place.lengths.get(name) ?? 0;
    const following = followThread({ client, org, cid, isLive, atFirst, onChange: () => look((turn) => turn + 1) });
    feed.current = following;
    return () => following.stop();
  }, [org, cid]);
  const state = feed.current?.state() ?? nothing;
  const { error, standing, thread } = state;
  useEffect(() => {
    if (thread !== undefined) place.lengths.set(name, thread.entries.length);
  }, [place, thread?.entries.length]);
  const refusal = error ?? (standing?.is === "ended" ? standing.error : undefined);
  useEffect(() => {
    if (refusal !== undefined) noteFailure(refusal);
  }, [refusal]);
  useWhenBack(error !== undefined, () => feed.current?.reload());
  return { ...state, reload: () => feed.current?.reload(), more: () => feed.current?.more() };
}
