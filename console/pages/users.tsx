import type { User } from "../../sdk/types.ts";
import { createdColumn, idColumn, nameColumn, seenColumn } from "../parts/columns.tsx";
import { useNew } from "../parts/directory/use-new.tsx";
import { OpenById } from "../parts/forms/open-by-id.tsx";
import { Empty } from "../parts/states.tsx";
import { type Column, LoadedTable } from "../parts/table.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useLoading, usePages, useRepeating } from "../state/loading.ts";
import { useOnline } from "../state/online.ts";
import { useOrder } from "../state/order.ts";

/** The users of the organization, which of them are online, and when the others were last seen. */
export function Users() {
  const { client, can, link } = useConsole();
  const org = useOrganization();
  const list = usePages(
    (cursor, limit) => client.listUsers(org, { limit, ...(cursor !== undefined && { cursor }) }),
    [org],
    { name: "users", size: 200 },
  );
  const { online, isOfAll, ask } = useOnline(org, list.value ?? []);
  const seen = seenColumn<User>(online, isOfAll);
  const columns: Column<User>[] = [
    idColumn((id) => link("users", id)),
    nameColumn(),
    ...(can("observe") ? [seen] : []),
    createdColumn(),
  ];
  const ordering = useOrder({ list, columns, given: "Id", first: seen.title });
  const { button, outcome } = useNew({
    noun: "user",
    idPointer: "/uid",
    read: (id) => client.getUser(org, id),
    put: (id, fields) => client.putUser(org, id, fields),
    isAllowed: can("directory:write"),
    hrefOf: (id) => link("users", id),
    onMade: list.reload,
  });
  return (
    <>
      <OpenById page="users" label="User">
        {can("observe") && <OnlineCount org={org} />}
        {list.value?.length !== 0 && button}
      </OpenById>
      {outcome}
      <LoadedTable
        label="Users"
        list={list}
        ordering={ordering}
        columns={columns}
        goesOn
        onShow={ask}
        empty={
          <Empty title="No users yet">
            <p>Your backend creates users, or they are created when they are added to a conversation.</p>
            {button}
          </Empty>
        }
      />
    </>
  );
}

function OnlineCount({ org }: { org: string }) {
  const { client, asOf } = useConsole();
  const counted = useLoading(() => client.countOnline(org), [org]);
  useRepeating(async () => counted.reload(), 5_000, [org]);
  if (counted.value === undefined) return <p class="lead" />;
  const { count, connections } = counted.value;
  return (
    <p class="lead">
      <strong>{count.toLocaleString("en-GB")}</strong> {count === 1 ? "user" : "users"}{" "}
      {asOf !== undefined && (count === 1 ? "was " : "were ")}online, on {connections.toLocaleString("en-GB")}{" "}
      {connections === 1 ? "connection" : "connections"}
    </p>
  );
}
