import { useRef } from "preact/hooks";
import type { DirectoryEntry } from "../../../sdk/types.ts";
import { useAwaited } from "../../state/awaited.ts";
import { useConsole } from "../../state/context.ts";
import { useThread } from "../../state/conversation/use-thread.ts";
import { useTold } from "../../state/told.ts";
import { FeedBadge } from "../feed-badge.tsx";
import { LongList } from "../long-list.tsx";
import { Problem } from "../problem.tsx";
import { Empty, More, Waiting } from "../states.tsx";
import { Gone, Said } from "./said.tsx";

type Props = { org: string; cid: string; participants: readonly DirectoryEntry[] };

const rowHeight = 120;

/** The messages of a conversation, newest first. New ones appear by themselves, if the key may watch what is delivered. */
export function History({ org, cid, participants }: Props) {
  const { can, link } = useConsole();
  const { thread, isLoading, error, standing, arrived, reload, more } = useThread(org, cid);
  const asked = useRef<string | undefined>(undefined);
  const isAwaited = thread === undefined && error === undefined;
  useAwaited(isAwaited);
  useTold(arrived, "message");
  return (
    <>
      <div class="feed-bar">
        <h2>History</h2>
        <span class="spacer" />
        {standing !== undefined && <FeedBadge standing={standing} />}
        {standing?.is !== "open" && (
          <button type="button" class="small" disabled={isLoading} onClick={reload}>
            Refresh
          </button>
        )}
      </div>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {isAwaited && <Waiting what="messages" />}
      {thread?.entries.length === 0 && (
        <Empty title="No messages yet">
          {can("message:send") && (
            <a class="button small" href={link("compose", undefined, { kind: "message", cid })}>
              Send the first
            </a>
          )}
        </Empty>
      )}
      {thread !== undefined && thread.entries.length > 0 && (
        <LongList
          label="Messages, newest first"
          items={thread.entries}
          hasMore={thread.older !== undefined}
          rowHeight={rowHeight}
        >
          {(entry) =>
            entry.is === "said" ? (
              <Said
                message={entry.message}
                participants={participants}
                onAsk={() => {
                  asked.current = entry.id;
                }}
                onChange={() => standing?.is !== "open" && reload()}
              />
            ) : (
              <Gone by={entry.by} catchesFocus={asked.current === entry.id} />
            )
          }
        </LongList>
      )}
      <More hasMore={thread?.older !== undefined} isLoading={isLoading} more={more} />
    </>
  );
}
