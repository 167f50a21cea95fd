import { useState } from "preact/hooks";
import type { DeliveryItem, RecipientState } from "../../sdk/types.ts";
import { useConsole } from "../state/context.ts";
import { usePages } from "../state/loading.ts";
import { Badge } from "./badge.tsx";
import { ChoiceField } from "./forms/field.tsx";
import { stateTones } from "./reports/recipients.tsx";
import { Empty, Loaded, More, NotAllowed } from "./states.tsx";
import { Time } from "./time.tsx";

type Props = { org: string; uid: string };

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
    (cursor) =>
      client.listDeliveries(org, uid, {
        limit: 25,
        ...(state !== "" && { state }),
        ...(cursor !== undefined && { cursor }),
      }),
    [org, uid, state],
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
      <ChoiceField
        label="Show"
        value={state}
        options={choices}
        onChange={(chosen) => setState(choices.map(([one]) => one).find((one) => one === chosen) ?? "")}
      />
      <Loaded loading={list} what="the deliveries">
        {(items) =>
          items.length === 0 ? (
            <Empty title="Nothing here">Messages and system messages that are addressed to the user appear here.</Empty>
          ) : (
            <ol class="rows" aria-label="Deliveries, newest first">
              {items.map((item) => (
                <li key={`${item.from} ${item.id}`}>
                  <Delivery item={item} />
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
      <More {...list} />
    </section>
  );
}

function Delivery({ item }: { item: DeliveryItem }) {
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
        {kind === "message" ? "message" : "system message"} <code>{id}</code>
        {cid !== null && (
          <>
            {" · to "}
            <a href={link("conversations", cid)}>{cid}</a>
          </>
        )}
      </p>
    </article>
  );
}
