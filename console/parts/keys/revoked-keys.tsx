import type { AuditEntry } from "../../../sdk/types.ts";
import { useConsole } from "../../state/context.ts";
import { useKeyNames } from "../../state/key-names.ts";
import type { Paged } from "../../state/loading.ts";
import { useOrder } from "../../state/order.ts";
import { timeColumn } from "../columns.tsx";
import { Empty } from "../states.tsx";
import { type Column, LoadedTable } from "../table.tsx";

/** The keys that were revoked, newest first, as the audit log says: the list of keys no longer has them. */
export function RevokedKeys({ list }: { list: Paged<AuditEntry> }) {
  const { link } = useConsole();
  const names = useKeyNames();
  const columns: Column<AuditEntry>[] = [
    {
      title: "Id",
      width: "minmax(0, 1fr)",
      isHeader: true,
      cell: ({ target }) => <span class="mono">{target.key}</span>,
    },
    timeColumn("Revoked", ({ created_at }) => created_at),
    {
      title: "By the key",
      width: "minmax(0, 1fr)",
      isTold: true,
      cell: ({ key_id }) => (key_id === null ? "none" : (names.get(key_id) ?? <code>{key_id}</code>)),
    },
    {
      title: "More",
      width: "8rem",
      isForButtons: true,
      cell: ({ target }) => <a href={link("audit", undefined, { key: target.key })}>What it did</a>,
    },
  ];
  const ordering = useOrder({ list, columns, first: "Revoked" });
  return (
    <LoadedTable
      label="Revoked keys"
      list={list}
      ordering={ordering}
      columns={columns}
      empty={
        <Empty title="No revoked keys">
          Revoked keys stand here for as long as the audit log keeps its entries. Those that ended with their
          organization do not.
        </Empty>
      }
    />
  );
}
