import { useState } from "preact/hooks";
import { HeraldApiError } from "../../../sdk/errors.ts";
import type { ApiKeyScope, ApiKeyWithSecret, NewApiKey } from "../../../sdk/types.ts";
import { type Scope, scopes } from "../../../src/contract/keys/scopes.ts";
import { linesOf } from "../../state/composing/draft.ts";
import { useConsole } from "../../state/context.ts";
import { useAction } from "../../state/loading.ts";
import { Problem } from "../problem.tsx";
import { Dialog } from "./dialog.tsx";
import { AreaField, ChoiceField, TextField } from "./field.tsx";

const ends = [
  ["", "Never, or when your key does"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;

const dayMs = 24 * 3600 * 1000;

/** A form for a new key. Offers only what the calling key may do. */
export function NewKey({ onMade, onClose }: { onMade: (made: ApiKeyWithSecret) => void; onClose: () => void }) {
  const { client, me, org, can } = useConsole();
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly Scope[]>([]);
  const [chosenPlace, setPlace] = useState<string>();
  const place = chosenPlace ?? (org === undefined ? "all" : "one");
  const [senders, setSenders] = useState("");
  const [networks, setNetworks] = useState("");
  const [days, setDays] = useState("");
  const make = useAction(async () => {
    const fields: NewApiKey = {
      name,
      scopes: [...chosen] as ApiKeyScope[],
      ...(me.organization === null && { organization: place === "one" ? (org ?? null) : null }),
      ...(senders !== "" && { allowed_senders: linesOf(senders) }),
      ...(networks !== "" && { cidrs: linesOf(networks) }),
      ...(days !== "" && { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
    };
    onMade(await client.createKey(fields));
  });
  const errors = make.error instanceof HeraldApiError ? make.error.errors : [];
  const errorOf = (pointer: string) => errors.find((one) => one.pointer.startsWith(pointer))?.detail;
  const toggle = (scope: Scope) =>
    setChosen((before) => (before.includes(scope) ? before.filter((one) => one !== scope) : [...before, scope]));
  return (
    <Dialog title="New key" onClose={onClose}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          make.run();
        }}
      >
        <TextField label="What the key is for" value={name} onChange={setName} error={errorOf("/name")} />
        <fieldset class="checks">
          <legend>Scopes</legend>
          {(Object.keys(scopes) as Scope[])
            .filter((scope) => can(scope))
            .map((scope) => (
              <label key={scope}>
                <input type="checkbox" checked={chosen.includes(scope)} onChange={() => toggle(scope)} />
                <span>
                  <code>{scope}</code> <span class="fine">{scopes[scope]}</span>
                </span>
              </label>
            ))}
          {errorOf("/scopes") !== undefined && (
            <p class="field-error" role="alert">
              {errorOf("/scopes")}
            </p>
          )}
        </fieldset>
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
        <details>
          <summary>Senders and networks</summary>
          <div class="stack">
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
          </div>
        </details>
        {make.error !== undefined && <Problem error={make.error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={make.isBusy}>
            Create the key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
