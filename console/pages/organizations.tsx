import type { DirectoryEntry } from "../../sdk/types.ts";
import { createdColumn, idColumn, nameColumn } from "../parts/columns.tsx";
import { useNew } from "../parts/directory/use-new.tsx";
import { Empty } from "../parts/states.tsx";
import { type Column, LoadedTable } from "../parts/table.tsx";
import { useConsole } from "../state/context.ts";
import { usePages } from "../state/loading.ts";
import { useOrder } from "../state/order.ts";
import { routeTo } from "../state/route.ts";

/** The organizations, and a form for another one. */
export function Organizations() {
  const { client, can, me, reloadOrganizations } = useConsole();
  const list = usePages(
    (cursor, limit) => client.listOrganizations({ limit, ...(cursor !== undefined && { cursor }) }),
    [],
    { name: "organizations", size: 200 },
  );
  const columns: Column<DirectoryEntry>[] = [idColumn(hrefOf), nameColumn(), createdColumn()];
  const ordering = useOrder({ list, columns, given: "Id" });
  const { button, outcome } = useNew({
    noun: "organization",
    idPointer: "/org",
    read: (id) => client.getOrganization(id),
    put: (id, fields) => client.putOrganization(id, fields),
    isAllowed: can("directory:write") && me.organization === null,
    hrefOf,
    onMade: () => {
      list.reload();
      reloadOrganizations();
    },
  });
  return (
    <>
      {list.value?.length !== 0 && button !== false && (
        <div class="feed-bar">
          <span class="spacer" />
          {button}
        </div>
      )}
      {outcome}
      <LoadedTable
        label="Organizations"
        list={list}
        ordering={ordering}
        columns={columns}
        goesOn
        empty={
          <Empty title="There is no organization yet">
            <p>Each organization's users, conversations and messages are isolated from all other organizations.</p>
            {button}
          </Empty>
        }
      />
    </>
  );
}

function hrefOf(id: string): string {
  return routeTo("organizations", id, { org: id });
}
