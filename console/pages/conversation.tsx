import type { DirectoryEntry } from "../../sdk/types.ts";
import { OnlineBadge } from "../parts/badge.tsx";
import { History } from "../parts/conversation/history.tsx";
import { Rows } from "../parts/rows.tsx";
import { Empty, Loaded, More, NotAllowed } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { type Paged, useLoading, usePages } from "../state/loading.ts";
import { useOnline } from "../state/online.ts";

/** One conversation: its participants, which of them are online, and its messages, as they are sent, edited and taken back. */
export function Conversation() {
  const { client, can, route, link } = useConsole();
  const org = useOrganization();
  const cid = route.id ?? "";
  const conversation = useLoading(() => client.getConversation(org, cid), [org, cid]);
  const participants = usePages(
    (cursor) => client.listParticipants(org, cid, { limit: 50, ...(cursor !== undefined && { cursor }) }),
    [org, cid],
  );
  const online = useOnline(
    org,
    participants.value?.map(({ id }) => id),
  );
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
            {can("system:send") && (
              <>
                {" · "}
                <a href={link("compose", undefined, { kind: "system_message", cid })}>Send a system message</a>
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
            <Participants list={participants} online={online} />
            <section aria-label="History">
              {can("history:read") ? (
                <History org={org} cid={cid} participants={participants.value ?? []} />
              ) : (
                <>
                  <h2>History</h2>
                  <NotAllowed what="messages" scope="history:read" />
                </>
              )}
            </section>
          </div>
        </>
      )}
    </Loaded>
  );
}

type ParticipantsProps = { list: Paged<DirectoryEntry>; online: ReadonlyMap<string, number> };

function Participants({ list, online }: ParticipantsProps) {
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
