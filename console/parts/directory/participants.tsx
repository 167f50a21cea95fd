import { useState } from "preact/hooks";
import type { DirectoryEntry } from "../../../sdk/types.ts";
import { useConsole } from "../../state/context.ts";
import { type Paged, useAction } from "../../state/loading.ts";
import { useOnline } from "../../state/online.ts";
import { useOrder } from "../../state/order.ts";
import { idColumn, nameColumn, seenColumn } from "../columns.tsx";
import { Confirm } from "../forms/dialog.tsx";
import { TextField } from "../forms/field.tsx";
import { useForm } from "../forms/use-form.ts";
import { Problem } from "../problem.tsx";
import { Empty } from "../states.tsx";
import { type Column, LoadedTable } from "../table.tsx";

type Props = { org: string; cid: string; list: Paged<DirectoryEntry> };

/** Who takes part in a conversation, and which of them are online. Adds and removes, if the key may do so. */
export function Participants({ org, cid, list }: Props) {
  const { can, link } = useConsole();
  const { online, isOfAll, ask } = useOnline(org, list.value ?? []);
  const [leaving, setLeaving] = useState<string>();
  const mayChange = can("directory:write");
  const seen = seenColumn<DirectoryEntry>(online, isOfAll);
  const columns: Column<DirectoryEntry>[] = [
    idColumn((id) => link("users", id)),
    nameColumn(),
    ...(can("observe") ? [seen] : []),
    ...(mayChange ? [removeColumn(setLeaving)] : []),
  ];
  const ordering = useOrder({ list, columns, given: "Id", first: seen.title });
  return (
    <section aria-labelledby="participants">
      <h2 id="participants">Participants</h2>
      {mayChange && <AddParticipant org={org} cid={cid} onAdded={list.reload} />}
      <LoadedTable
        label="Participants"
        list={list}
        ordering={ordering}
        columns={columns}
        onShow={ask}
        empty={<Empty title="No participants" />}
      />
      {leaving !== undefined && (
        <RemoveParticipant
          org={org}
          cid={cid}
          uid={leaving}
          onRemoved={list.reload}
          onClose={() => setLeaving(undefined)}
        />
      )}
    </section>
  );
}

function removeColumn(onRemove: (id: string) => void): Column<DirectoryEntry> {
  return {
    title: "Change",
    width: "4.75rem",
    isForButtons: true,
    cell: ({ id }) => (
      <button type="button" class="small" aria-label={`Remove ${id}`} onClick={() => onRemove(id)}>
        Remove
      </button>
    ),
  };
}

const pointers = ["/uid"] as const;

function AddParticipant({ org, cid, onAdded }: { org: string; cid: string; onAdded: () => void }) {
  const { client, announce } = useConsole();
  const [uid, setUid] = useState("");
  const form = useForm({
    pointers,
    mistakes: uid === "" ? { "/uid": "Enter a user." } : {},
    act: async () => {
      await client.addParticipant(org, cid, uid);
      announce(`${uid} takes part`);
      setUid("");
      onAdded();
    },
  });
  return (
    <form class="stack" noValidate onSubmit={form.submit}>
      <div class="filters">
        <TextField label="Add (user)" value={uid} onChange={setUid} error={form.errorOf("/uid")} isId />
        <button type="submit" disabled={form.isBusy}>
          Add
        </button>
      </div>
      {form.error !== undefined && <Problem error={form.error} isToldAtFields={form.isToldAtFields} />}
    </form>
  );
}

type RemoveProps = { org: string; cid: string; uid: string; onRemoved: () => void; onClose: () => void };

function RemoveParticipant({ org, cid, uid, onRemoved, onClose }: RemoveProps) {
  const { client, announce } = useConsole();
  const removal = useAction(async () => {
    await client.removeParticipant(org, cid, uid);
    announce(`${uid} no longer takes part`);
    onClose();
    onRemoved();
  });
  return (
    <Confirm
      title={`Remove ${uid} from ${cid}?`}
      verb="Remove"
      isBusy={removal.isBusy}
      onConfirm={() => removal.run()}
      onClose={onClose}
    >
      <p>The user receives no more of its messages. You can add the user again.</p>
      {removal.error !== undefined && <Problem error={removal.error} />}
    </Confirm>
  );
}
