import { useState } from "preact/hooks";
import type { ApiKeyWithSecret } from "../../sdk/types.ts";
import { ChoiceField } from "../parts/forms/field.tsx";
import { NewKey } from "../parts/forms/new-key.tsx";
import { SaveSecret } from "../parts/forms/save-secret.tsx";
import { useKeyActions } from "../parts/keys/key-actions.tsx";
import { KeyFacts, keyColumns } from "../parts/keys/key-facts.tsx";
import { RevokedKeys } from "../parts/keys/revoked-keys.tsx";
import { PeopleSessions } from "../parts/people-sessions.tsx";
import { StateFilter } from "../parts/state-filter.tsx";
import { Empty, Loaded, NotAllowed } from "../parts/states.tsx";
import { LoadedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole } from "../state/context.ts";
import { usePages } from "../state/loading.ts";
import { useOrder } from "../state/order.ts";
import { providerHost } from "../state/provider.ts";
import { useNewForm } from "../state/use-new-form.ts";

type KeyState = "active" | "revoked";
const states: readonly (readonly [KeyState, string])[] = [
  ["active", "Not revoked"],
  ["revoked", "Revoked"],
];

/** The API keys: create, rotate, revoke, and those that were revoked. A secret is shown only once. */
export function Keys() {
  const { can, me, route } = useConsole();
  const [state, setState] = useState<KeyState>("active");
  const isOfAll = me.organization === null && me.organizations === null;
  const showsPeople = providerHost !== undefined && route.id === undefined && isOfAll;
  return state === "active" ? (
    <>
      <ActiveKeys onChoose={setState} />
      {showsPeople && <PeopleSessions />}
    </>
  ) : can("observe") ? (
    <RevokedOnes onChoose={setState} />
  ) : (
    <>
      <ChoiceField label="State" value={state} options={states} onChange={setState} />
      <NotAllowed what="which keys were revoked" scope="observe" />
    </>
  );
}

type Choosing = { onChoose: (state: KeyState) => void };

function RevokedOnes({ onChoose }: Choosing) {
  const { client } = useConsole();
  const list = usePages(
    (cursor) =>
      client.listAudit({
        operation: "deleteKey",
        result: "done",
        limit: 100,
        ...(cursor !== undefined && { cursor }),
      }),
    [],
  );
  return (
    <>
      <StateFilter state="revoked" choices={states} onChange={onChoose} list={list} />
      <RevokedKeys list={list} />
    </>
  );
}

function ActiveKeys({ onChoose }: Choosing) {
  const { client, link, route } = useConsole();
  const { id } = route;
  const list = usePages(
    async (cursor, limit) =>
      id === undefined
        ? await client.listKeys({ limit, ...(cursor !== undefined && { cursor }) })
        : { items: [await client.getKey(id)], cursor: null },
    [id],
    { name: "keys", size: 100 },
  );
  const [isMaking, setIsMaking] = useNewForm("keys");
  const [fresh, setFresh] = useState<ApiKeyWithSecret>();
  const show = (made: ApiKeyWithSecret) => {
    setIsMaking(false);
    setFresh(made);
  };
  // Not before: a session whose own key was rotated ends with the next call, and the secret would be lost with it.
  const saved = () => {
    setFresh(undefined);
    list.reload();
  };
  const { buttonsOf, dialog } = useKeyActions({
    onRotated: show,
    onRevoked: () => {
      if (id === undefined) list.reload();
      else location.hash = link("keys");
    },
  });
  const columns = keyColumns((one) => link("keys", one), buttonsOf);
  const ordering = useOrder({ list, columns, given: "Id" });
  return (
    <>
      <div class="feed-bar">
        <p class="fine">A new key may do no more than your own. Its secret is shown only once.</p>
        <span class="spacer" />
        <button type="button" class="primary" onClick={() => setIsMaking(true)}>
          New key
        </button>
      </div>
      {id === undefined ? (
        <StateFilter state="active" choices={states} onChange={onChoose} list={list} />
      ) : (
        <p>
          <a href={link("keys")}>Show all keys</a>
        </p>
      )}
      {isMaking && <NewKey onMade={show} onClose={() => setIsMaking(false)} />}
      {fresh !== undefined && <FreshKey made={fresh} onClose={saved} />}
      {id === undefined ? (
        <LoadedTable
          label="Keys"
          list={list}
          ordering={ordering}
          columns={columns}
          goesOn
          empty={
            <Empty title="No keys yet">
              You are using the bootstrap key, which may do everything. Create a key for each program that calls Herald.
            </Empty>
          }
        />
      ) : (
        <Loaded loading={list} what="the key">
          {(items) =>
            items.map((apiKey) => (
              <KeyFacts key={apiKey.id} apiKey={apiKey}>
                {buttonsOf(apiKey)}
              </KeyFacts>
            ))
          }
        </Loaded>
      )}
      {dialog}
    </>
  );
}

function FreshKey({ made, onClose }: { made: ApiKeyWithSecret; onClose: () => void }) {
  return (
    <SaveSecret title={`API key ${made.name}`} noun="key" label="API key" value={made.key} onClose={onClose}>
      {made.old_secret_expires_at !== null && (
        <p class="fine">
          The previous secret works until <Time at={made.old_secret_expires_at} />.
        </p>
      )}
    </SaveSecret>
  );
}
