import { useState } from "preact/hooks";
import type { DeliveryItem, RecipientState } from "../../sdk/types.ts";
import { useConsole } from "../state/context.ts";
import type { SentId } from "../state/delivery.ts";
import { usePages } from "../state/loading.ts";
import { Badge } from "./badge.tsx";
import { ChoiceField } from "./forms/field.tsx";
import { LongList } from "./long-list.tsx";
import { MessageLink } from "./message-link.tsx";
import { stateTones } from "./reports/recipients.tsx";
import { Why, WhyMessage } from "./reports/why.tsx";
import { Empty, Loaded, More, NotAllowed } from "./states.tsx";
import { Time } from "./time.tsx";

type Props = { org: string; uid: string };

const rowHeight = 106;

const choices = [
  ["", "All that was addressed to them"],
  ["missing", "What they do not have"],
  ["delivered", "What they have, unacknowledged"],
  ["acknowledged", "What they have acknowledged"],
] as const;

/** What was addressed to a user, newest first: what they have of it, and what they have read. */
export function Deliveries(props: Props) {
  const { can } = useConsole();
  return can("history:read") ? <Items {...props} /> : <NotAllowed what="deliveries" scope="history:read" />;
}

function Items({ org, uid }: Props) {
  const { client } = useConsole();
  const [state, setState] = useState<"" | RecipientState>("");
  const list = usePages(
    (cursor, limit) =>
      client.listDeliveries(org, uid, {
        limit,
        ...(state !== "" && { state }),
        ...(cursor !== undefined && { cursor }),
      }),
    [org, uid, state],
    { name: "deliveries", size: 25 },
  );
  return (
    <section aria-labelledby="deliveries">
      <div class="feed-bar">
        <h2 id="deliveries">Deliveries</h2>
        <span class="spacer" />
        <button type="button" class="small" disabled={list.isLoading} onClick={list.reload}>
          Refresh
        </button>
      </div>
      <WhyMessage key={uid} uid={uid} />
      <ChoiceField label="Show" value={state} options={choices} onChange={setState} />
      <Loaded loading={list} what="the deliveries">
        {(items) =>
          items.length === 0 ? (
            <Empty title="Nothing here">
              Messages and system messages that were addressed to the user appear here, but not those of conversations
              that the user has left.
            </Empty>
          ) : (
            <LongList
              label="Deliveries, newest first"
              items={items.map((item) => ({ id: `${item.from} ${item.id}`, item }))}
              hasMore={list.hasMore}
              rowHeight={rowHeight}
            >
              {({ item }) => <Delivery item={item} uid={uid} />}
            </LongList>
          )
        }
      </Loaded>
      <More {...list} />
    </section>
  );
}

function Delivery({ item, uid }: { item: DeliveryItem; uid: string }) {
  const { link } = useConsole();
  const { kind, id, cid, from, t, state, delivered_at, acknowledged_at, read_at } = item;
  const at = acknowledged_at ?? delivered_at;
  return (
    <article class="entry">
      <div class="entry-head">
        <strong>{from}</strong>
        <span class="fine">
          <Time at={new Date(t * 1_000).toISOString()} />
        </span>
        <Badge tone={stateTones[state]}>
          {state} {at !== null && <Time at={at} />}
        </Badge>
        {read_at !== null && (
          <Badge tone="ok">
            read <Time at={read_at} />
          </Badge>
        )}
      </div>
      <p class="fine">
        {kind === "message" ? "message" : "system message"} <MessageLink kind={kind} id={id} from={from} />
        {cid !== null && (
          <>
            {" · to "}
            <a href={link("conversations", cid)}>{cid}</a>
          </>
        )}
      </p>
      {state === "missing" && <Why uid={uid} sent={sentOf(item)} />}
    </article>
  );
}

function sentOf({ kind, id, from }: DeliveryItem): SentId {
  return kind === "message" ? { kind, id } : { kind, id, senderId: from };
}
