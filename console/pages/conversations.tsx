import { useState } from "preact/hooks";
import { TextField } from "../parts/forms/field.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { usePages } from "../state/loading.ts";

/** The conversations of the organization, by id. */
export function Conversations() {
  const { client, link } = useConsole();
  const org = useOrganization();
  const [id, setId] = useState("");
  const list = usePages(
    (cursor) => client.listConversations(org, { limit: 50, ...(cursor !== undefined && { cursor }) }),
    [org],
  );
  return (
    <>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          if (id !== "") location.hash = link("conversations", id);
        }}
      >
        <TextField label="Conversation" value={id} onChange={setId} isId />
        <button type="submit">Open</button>
      </form>
      <Loaded loading={list} what="conversations">
        {(items) =>
          items.length === 0 ? (
            <Empty title="No conversations yet">
              Create a conversation with <code>PUT /admin/organizations/{org}/conversations/…</code>, see the{" "}
              <a href="/docs">reference</a>.
            </Empty>
          ) : (
            <>
              <ul class="rows">
                {items.map(({ id, name, created_at }) => (
                  <li key={id}>
                    <a class="row-link" href={link("conversations", id)}>
                      <span class="row-title">{name ?? id}</span>
                      {name !== null && <span class="mono quiet">{id}</span>}
                      <span class="spacer" />
                      <span class="fine">
                        since <Time at={created_at} />
                      </span>
                    </a>
                  </li>
                ))}
              </ul>
              <More {...list} />
            </>
          )
        }
      </Loaded>
    </>
  );
}
