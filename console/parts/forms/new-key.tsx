import { useState } from "preact/hooks";
import type { ApiKeyScope, ApiKeyWithSecret, NewApiKey } from "../../../sdk/types.ts";
import { type Scope, scopes } from "../../../src/contract/keys/scopes.ts";
import { linesOf } from "../../state/composing/draft.ts";
import { useConsole } from "../../state/context.ts";
import { AreaField, ChecksField, ChoiceField, TextField } from "./field.tsx";
import { Fold } from "./fold.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { useForm } from "./use-form.ts";

const ends = [
  ["", "Never, or when your key does"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;

/** What has a field in the form. */
const pointers = ["/name", "/scopes", "/expires_at", "/allowed_senders", "/cidrs"] as const;

const dayMs = 24 * 3600 * 1000;

/** A form for a new key. Offers only what the calling key may do. */
export function NewKey({ onMade, onClose }: { onMade: (made: ApiKeyWithSecret) => void; onClose: () => void }) {
  const { client, me, org, can } = useConsole();
  const [openedAt] = useState(Date.now);
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly Scope[]>([]);
  const [chosenPlace, setPlace] = useState<string>();
  const place = chosenPlace ?? (org === undefined ? "all" : "one");
  const [senders, setSenders] = useState("");
  const [networks, setNetworks] = useState("");
  const [days, setDays] = useState("");
  const fields: NewApiKey = {
    name,
    scopes: [...chosen] as ApiKeyScope[],
    ...(me.organization === null && { organization: place === "one" ? (org ?? null) : null }),
    ...(senders !== "" && { allowed_senders: linesOf(senders) }),
    ...(networks !== "" && { cidrs: linesOf(networks) }),
    ...(days !== "" && { expires_at: new Date(openedAt + Number(days) * dayMs).toISOString() }),
  };
  const form = useForm({
    pointers,
    mistakes: {
      ...(name === "" && { "/name": "Enter what the key is for." }),
      ...(chosen.length === 0 && { "/scopes": "Choose at least one scope." }),
    },
    act: async () => {
      onMade(await client.createKey(fields));
    },
  });
  const { errorOf } = form;
  const toggle = (scope: Scope) =>
    setChosen((before) => (before.includes(scope) ? before.filter((one) => one !== scope) : [...before, scope]));
  return (
    <FormDialog
      title="New key"
      verb="Create the key"
      form={form}
      call={{ action: "createKey", names: {}, body: fields }}
      onClose={onClose}
    >
      <TextField label="What the key is for" value={name} onChange={setName} error={errorOf("/name")} />
      <ChecksField
        label="Scopes"
        options={(Object.keys(scopes) as Scope[]).filter(can).map((scope) => [scope, scopes[scope]])}
        chosen={chosen}
        onToggle={toggle}
        error={errorOf("/scopes")}
      />
      {me.organization === null && (
        <ChoiceField
          label="Where"
          value={place}
          onChange={setPlace}
          options={[
            ...(org === undefined ? [] : ([["one", `Only in ${org}`]] as const)),
            ["all", "In all organizations"],
          ]}
        />
      )}
      <ChoiceField label="Ends" value={days} options={ends} onChange={setDays} error={errorOf("/expires_at")} />
      <Fold
        summary="Senders and networks"
        isWrong={errorOf("/allowed_senders") !== undefined || errorOf("/cidrs") !== undefined}
      >
        <AreaField
          label="May send only as"
          isOptional
          hint="One user per line."
          value={senders}
          onChange={setSenders}
          error={errorOf("/allowed_senders")}
          isId
        />
        <AreaField
          label="May be used only from"
          isOptional
          hint="One network per line, such as 192.0.2.0/24."
          value={networks}
          onChange={setNetworks}
          error={errorOf("/cidrs")}
          isId
        />
      </Fold>
    </FormDialog>
  );
}
