import { Badge, OnlineBadge } from "../parts/badge.tsx";
import { OpenById } from "../parts/forms/open-by-id.tsx";
import { Rows } from "../parts/rows.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useLoading, usePages, useRepeating } from "../state/loading.ts";
import { useOnline } from "../state/online.ts";

/** The users of the organization by id, and which of them are online. */
export function Users() {
  const { client, can } = useConsole();
  const org = useOrganization();
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
      <OpenById page="users" label="User" />
      {can("observe") && <OnlineCount org={org} />}
      <Loaded loading={list} what="users">
        {(items) =>
          items.length === 0 ? (
            <Empty title="No users yet">
              Create a user with <code>PUT /admin/organizations/{org}/users/…</code>, or add one to a conversation.
            </Empty>
          ) : (
            <>
              <Rows
                page="users"
                items={items}
                aside={({ id, blocked = false }) => (
                  <>
                    {blocked && <Badge tone="bad">blocked</Badge>}
                    <OnlineBadge connections={online.get(id)} />
                  </>
                )}
              />
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
