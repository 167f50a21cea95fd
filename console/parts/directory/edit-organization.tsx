import { useState } from "preact/hooks";
import type { Organization, OrganizationLimits } from "../../../sdk/types.ts";
import { useConsole } from "../../state/context.ts";
import { formatBytes } from "../format-bytes.ts";
import { TextField } from "../forms/field.tsx";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useForm } from "../forms/use-form.ts";

const count = (value: number) => value.toLocaleString("en-GB");
const limitFields = [
  ["requests_per_second", "Requests per second", count],
  ["messages_per_second", "Messages per second", count],
  ["connections", "Connections", count],
  ["stored_bytes", "Stored (bytes)", formatBytes],
] as const satisfies readonly (readonly [keyof OrganizationLimits, string, (value: number) => string])[];

type Limit = (typeof limitFields)[number][0];
type Typed = Record<Limit, string>;

const pointerOf = (limit: Limit) => `/limits/${limit}` as const;

/** What has a field in the form. */
const pointers = ["/name", ...limitFields.map(([limit]) => pointerOf(limit))] as const;

type Props = { organization: Organization; onChange: () => void; onClose: () => void };

/** A form for an organization's name, and for its limits if the key may set them. Beside each limit stands what is used now. */
export function EditOrganization({ organization, onChange, onClose }: Props) {
  const { client, me, announce } = useConsole();
  const { id, limits, usage } = organization;
  const maySetLimits = me.organization === null;
  const [name, setName] = useState(organization.name ?? "");
  const [typed, setTyped] = useState<Typed>({
    requests_per_second: shown(limits.requests_per_second),
    messages_per_second: shown(limits.messages_per_second),
    connections: shown(limits.connections),
    stored_bytes: shown(limits.stored_bytes),
  });
  const wrong = limitFields.filter(([limit]) => !/^\d*$/.test(typed[limit]));
  const fields = {
    name: name === "" ? null : name,
    ...(maySetLimits && { limits: changedLimits(limits, typed) }),
  };
  const form = useForm<(typeof pointers)[number]>({
    pointers,
    mistakes: Object.fromEntries(wrong.map(([limit]) => [pointerOf(limit), "Enter a whole number, or nothing."])),
    act: async () => {
      await client.getOrganization(id); // one that was deleted meanwhile is not to come back
      await client.putOrganization(id, fields);
      announce("Saved");
      onClose();
      onChange();
    },
  });
  return (
    <FormDialog
      title={`Edit ${id}`}
      verb="Save"
      form={form}
      call={{ action: "putOrganization", names: { org: id }, body: fields }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Leave it empty to remove the name."
        value={name}
        onChange={setName}
        error={form.errorOf("/name")}
      />
      {maySetLimits ? (
        <fieldset class="stack">
          <legend>Limits</legend>
          <p class="fine">
            Empty is the server's limit, and 0 is no limit. The storage limit applies to all nodes together, the others
            to each node.
          </p>
          <div class="pair">
            {limitFields.map(([limit, label, show]) => (
              <TextField
                key={limit}
                label={label}
                hint={`Used now: ${usage[limit] === null ? "unknown" : show(usage[limit])}`}
                value={typed[limit]}
                onChange={(value) => setTyped((before) => ({ ...before, [limit]: value.trim() }))}
                error={form.errorOf(pointerOf(limit))}
                inputmode="numeric"
              />
            ))}
          </div>
        </fieldset>
      ) : (
        <p class="fine">Only keys for all organizations can set limits.</p>
      )}
    </FormDialog>
  );
}

function shown(limit: number | null): string {
  return limit === null ? "" : String(limit);
}

/** Only what differs: another reader may have changed the other limits meanwhile. */
function changedLimits(before: OrganizationLimits, typed: Typed): Partial<OrganizationLimits> {
  return Object.fromEntries(
    limitFields
      .filter(([limit]) => shown(before[limit]) !== typed[limit])
      .map(([limit]) => [limit, typed[limit] === "" ? null : Number(typed[limit])]),
  );
}
