import { useState } from "preact/hooks";
import { Badge, OnlineBadge } from "../parts/badge.tsx";
import { TextField } from "../parts/forms/field.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useLoading, usePages, useRepeating } from "../state/loading.ts";
import { useOnline } from "../state/online.ts";

/** The users of the organization by id, and which of them are online. */
export function Users() {
  const { client, link, can } = useConsole();
  const org = useOrganization();
  const [id, setId] = useState("");
  const list = usePages(
    (cursor) => client.listUsers(org, { limit: 50, ...(cursor !== undefined && { cursor }) }),
    [org],
  );
  const online = useOnline(
    org,
    list.value?.map(({ id }) => id),
  );
  return (
    <>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          if (id !== "") location.hash = link("users", id);
        }}
      >
        <TextField label="User" value={id} onChange={setId} isId />
        <button type="submit">Open</button>
      </form>
      {can("observe") && <OnlineCount org={org} />}
      <Loaded loading={list} what="users">
        {(items) =>
          items.length === 0 ? (
            <Empty title="No users yet">
              Create a user with <code>PUT /admin/organizations/{org}/users/…</code>, or add one to a conversation.
            </Empty>
          ) : (
            <>
              <ul class="rows">
                {items.map(({ id, name, blocked = false }) => (
                  <li key={id}>
                    <a class="row-link" href={link("users", id)}>
                      <span class="row-title">{name ?? id}</span>
                      {name !== null && <span class="mono quiet">{id}</span>}
                      <span class="spacer" />
                      {blocked && <Badge tone="bad">blocked</Badge>}
                      <OnlineBadge connections={online.get(id)} />
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

function OnlineCount({ org }: { org: string }) {
  const { client } = useConsole();
  const counted = useLoading(() => client.countOnline(org), [org]);
  useRepeating(async () => counted.reload(), 5_000, [org]);
  if (counted.value === undefined) return null;
  const { count, connections } = counted.value;
  return (
    <p class="lead">
      <strong>{count.toLocaleString("en-GB")}</strong> {count === 1 ? "user" : "users"} online, on{" "}
      {connections.toLocaleString("en-GB")} {connections === 1 ? "connection" : "connections"}
    </p>
  );
}
