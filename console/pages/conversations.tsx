import type { DirectoryEntry } from "../../sdk/types.ts";
import { createdColumn, idColumn, nameColumn } from "../parts/columns.tsx";
import { useNew } from "../parts/directory/use-new.tsx";
import { OpenById } from "../parts/forms/open-by-id.tsx";
import { Empty } from "../parts/states.tsx";
import { type Column, LoadedTable } from "../parts/table.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { usePages } from "../state/loading.ts";
import { useOrder } from "../state/order.ts";

/** The conversations of the organization. */
export function Conversations() {
  const { client, can, link } = useConsole();
  const org = useOrganization();
  const list = usePages(
    (cursor, limit) => client.listConversations(org, { limit, ...(cursor !== undefined && { cursor }) }),
    [org],
    { name: "conversations", size: 200 },
  );
  const columns: Column<DirectoryEntry>[] = [
    idColumn((id) => link("conversations", id)),
    nameColumn(),
    createdColumn(),
  ];
  const ordering = useOrder({ list, columns, given: "Id" });
  const { button, outcome } = useNew({
    noun: "conversation",
    idPointer: "/cid",
    hasParticipants: true,
    read: (id) => client.getConversation(org, id),
    put: (id, fields) => client.putConversation(org, id, fields),
    isAllowed: can("directory:write"),
    hrefOf: (id) => link("conversations", id),
    onMade: list.reload,
  });
  return (
    <>
      <OpenById page="conversations" label="Conversation">
        {list.value?.length !== 0 && button}
      </OpenById>
      {outcome}
      <LoadedTable
        label="Conversations"
        list={list}
        ordering={ordering}
        columns={columns}
        goesOn
        empty={
          <Empty title="No conversations yet">
            <p>A conversation is what messages are sent to: its participants receive them.</p>
            {button}
          </Empty>
        }
      />
    </>
  );
}
