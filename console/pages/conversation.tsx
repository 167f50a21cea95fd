import { History } from "../parts/conversation/history.tsx";
import { ChangeNameButton } from "../parts/directory/change-name.tsx";
import { Participants } from "../parts/directory/participants.tsx";
import { DeleteButton } from "../parts/forms/delete.tsx";
import { Loaded, NotAllowed } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useLoading, usePages } from "../state/loading.ts";

/** One conversation: its name and participants, which of them are online, and its messages, as they are sent, edited and taken back. */
export function Conversation() {
  const { client, can, route, link } = useConsole();
  const org = useOrganization();
  const cid = route.id ?? "";
  const conversation = useLoading(() => client.getConversation(org, cid), [org, cid]);
  const participants = usePages(
    (cursor, limit) => client.listParticipants(org, cid, { limit, ...(cursor !== undefined && { cursor }) }),
    [org, cid],
    { name: "participants", size: 50 },
  );
  return (
    <Loaded loading={conversation} what="the conversation">
      {({ name, created_at }) => (
        <>
          <p class="lead">
            {name !== null && <strong>{name}, </strong>}created <Time at={created_at} />
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
          {can("directory:write") && (
            <div class="feed-bar">
              <ChangeNameButton
                id={cid}
                name={name}
                read={() => client.getConversation(org, cid)}
                put={(fields) => client.putConversation(org, cid, fields)}
                code={{ action: "putConversation", names: { org, cid } }}
                onChange={conversation.reload}
              />
              <DeleteButton
                id={cid}
                act={() => client.deleteConversation(org, cid)}
                onDeleted={() => {
                  location.hash = link("conversations");
                }}
              >
                <p>All participants are removed, and its history is gone. You cannot undo this.</p>
              </DeleteButton>
            </div>
          )}
          <div class="two-columns">
            <Participants org={org} cid={cid} list={participants} />
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
