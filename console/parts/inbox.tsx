import type { InboxItem } from "../../sdk/types.ts";
import { useConsole } from "../state/context.ts";
import { usePages } from "../state/loading.ts";
import { Badge } from "./badge.tsx";
import { LongList } from "./long-list.tsx";
import { Manner } from "./manner.tsx";
import { MessageLink } from "./message-link.tsx";
import { Empty, Loaded, More, NotAllowed } from "./states.tsx";
import { Time } from "./time.tsx";

type Props = { org: string; uid: string };

const rowHeight = 165;

/** A user's inbox, newest first: the system messages that are kept there, and what the user has done with them. */
export function Inbox(props: Props) {
  const { can } = useConsole();
  return can("history:read") ? <Items {...props} /> : <NotAllowed what="the inbox" scope="history:read" />;
}

function Items({ org, uid }: Props) {
  const { client, can, link } = useConsole();
  const list = usePages(
    (cursor, limit) => client.listInbox(org, uid, { limit, ...(cursor !== undefined && { cursor }) }),
    [org, uid],
    { name: "inbox", size: 50 },
  );
  return (
    <section aria-labelledby="inbox">
      <div class="feed-bar">
        <h2 id="inbox">Inbox</h2>
        <span class="spacer" />
        <button type="button" class="small" disabled={list.isLoading} onClick={list.reload}>
          Refresh
        </button>
      </div>
      <Loaded loading={list} what="the inbox">
        {(items) =>
          items.length === 0 ? (
            <Empty title="The inbox is empty">
              It holds system messages that are kept for some days.
              {can("system:send") && (
                <>
                  {" "}
                  To send one, fill in <em>Keep for</em> in{" "}
                  <a href={link("compose", undefined, { kind: "system_message", uid })}>Compose</a>.
                </>
              )}
            </Empty>
          ) : (
            <LongList
              label="System messages, newest first"
              items={items.map((item) => ({ id: `${item.from} ${item._id}`, item }))}
              hasMore={list.hasMore}
              rowHeight={rowHeight}
            >
              {({ item }) => <Kept item={item} />}
            </LongList>
          )
        }
      </Loaded>
      <More {...list} />
    </section>
  );
}

function Kept({ item }: { item: InboxItem }) {
  const { _id, from, x, cid, created_at, seen_at, read_at } = item;
  return (
    <article class="entry">
      <div class="entry-head">
        <strong>{from}</strong>
        <span class="fine">
          <Time at={created_at} />
        </span>
        {read_at === null && seen_at === null && <Badge tone="accent">unread</Badge>}
        {read_at === null && seen_at !== null && (
          <Badge tone="plain">
            seen <Time at={seen_at} />
          </Badge>
        )}
        {read_at !== null && (
          <Badge tone="ok">
            read <Time at={read_at} />
          </Badge>
        )}
      </div>
      <pre class="code">{JSON.stringify(x, undefined, 2)}</pre>
      <p class="fine">
        <MessageLink kind="system_message" id={_id} from={from} />
        {cid !== undefined && ` · to ${cid}`}
        <Manner of={item} />
      </p>
    </article>
  );
}
