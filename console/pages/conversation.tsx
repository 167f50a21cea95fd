import { useState } from "preact/hooks";
import type { Message } from "../../sdk/types.ts";
import { OnlineBadge } from "../parts/badge.tsx";
import { DeliveryReport } from "../parts/reports/delivery-report.tsx";
import { Rows } from "../parts/rows.tsx";
import { Empty, Loaded, More, NotAllowed } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useLoading, usePages } from "../state/loading.ts";
import { useOnline } from "../state/online.ts";

/** One conversation: its participants, which of them are online, and its messages. */
export function Conversation() {
  const { client, can, route, link } = useConsole();
  const org = useOrganization();
  const cid = route.id ?? "";
  const conversation = useLoading(() => client.getConversation(org, cid), [org, cid]);
  return (
    <Loaded loading={conversation} what="the conversation">
      {({ name, created_at }) => (
        <>
          <p class="lead">
            {name !== null && <strong>{name}, </strong>}since <Time at={created_at} />
            {can("message:send") && (
              <>
                {" · "}
                <a href={link("compose", undefined, { kind: "message", cid })}>Send a message</a>
              </>
            )}
            {can("observe") && (
              <>
                {" · "}
                <a href={link("live", undefined, { cid })}>Watch it live</a>
              </>
            )}
          </p>
          <div class="two-columns">
            <Participants org={org} cid={cid} />
            <section aria-labelledby="history">
              <h2 id="history">History</h2>
              {can("history:read") ? (
                <History org={org} cid={cid} />
              ) : (
                <NotAllowed what="messages" scope="history:read" />
              )}
            </section>
          </div>
        </>
      )}
    </Loaded>
  );
}

function Participants({ org, cid }: { org: string; cid: string }) {
  const { client } = useConsole();
  const list = usePages(
    (cursor) => client.listParticipants(org, cid, { limit: 50, ...(cursor !== undefined && { cursor }) }),
    [org, cid],
  );
  const online = useOnline(
    org,
    list.value?.map(({ id }) => id),
  );
  return (
    <section aria-labelledby="participants">
      <h2 id="participants">Participants</h2>
      <Loaded loading={list} what="participants">
        {(items) =>
          items.length === 0 ? (
            <Empty title="No participants" />
          ) : (
            <>
              <Rows page="users" items={items} aside={({ id }) => <OnlineBadge connections={online.get(id)} />} />
              <More {...list} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function History({ org, cid }: { org: string; cid: string }) {
  const { client } = useConsole();
  const list = usePages(
    (cursor) => client.listMessages(org, cid, { limit: 25, ...(cursor !== undefined && { cursor }) }),
    [org, cid],
  );
  return (
    <Loaded loading={list} what="messages">
      {(items) =>
        items.length === 0 ? (
          <Empty title="No messages yet" />
        ) : (
          <>
            <ol class="rows" aria-label="Messages, newest first">
              {items.map((message) => (
                <li key={message._id}>
                  <Said message={message} />
                </li>
              ))}
            </ol>
            <More {...list} />
          </>
        )
      }
    </Loaded>
  );
}

function Said({ message }: { message: Message }) {
  const { from, body, attachments, x, created_at, _id } = message;
  const [isOpen, setIsOpen] = useState(false);
  const hasParameters = Object.keys(x).length > 0;
  return (
    <article class="said">
      <p class="said-head">
        <strong>{from}</strong>{" "}
        <span class="fine">
          <Time at={created_at} />
        </span>
      </p>
      {body !== "" && <p class="said-body">{body}</p>}
      {attachments.length > 0 && (
        <p class="fine">Attached: {attachments.map(({ file_name }) => file_name).join(", ")}</p>
      )}
      {hasParameters && <pre class="code">{JSON.stringify(x, undefined, 2)}</pre>}
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>Delivery report</summary>
        {isOpen && <DeliveryReport sent={{ kind: "message", id: _id }} />}
      </details>
    </article>
  );
}
