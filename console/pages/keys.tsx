import { useState } from "preact/hooks";
import type { ApiKey, ApiKeyWithSecret } from "../../sdk/types.ts";
import { Badge } from "../parts/badge.tsx";
import { Secret } from "../parts/copy.tsx";
import { Fact, Facts } from "../parts/facts.tsx";
import { Confirm, Dialog } from "../parts/forms/dialog.tsx";
import { ChoiceField } from "../parts/forms/field.tsx";
import { NewKey } from "../parts/forms/new-key.tsx";
import { Problem } from "../parts/problem.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole } from "../state/context.ts";
import { useAction, usePages } from "../state/loading.ts";

/** The API keys: create, rotate, revoke. A secret is shown only once. */
export function Keys() {
  const { client } = useConsole();
  const list = usePages((cursor) => client.listKeys({ limit: 100, ...(cursor !== undefined && { cursor }) }), []);
  const [isMaking, setIsMaking] = useState(false);
  const [fresh, setFresh] = useState<ApiKeyWithSecret>();
  const show = (made: ApiKeyWithSecret) => {
    setIsMaking(false);
    setFresh(made);
    list.reload();
  };
  return (
    <>
      <div class="feed-bar">
        <p class="fine">A new key may do no more than your own. Its secret is shown only once.</p>
        <span class="spacer" />
        <button type="button" class="primary" onClick={() => setIsMaking(true)}>
          New key
        </button>
      </div>
      {isMaking && <NewKey onMade={show} onClose={() => setIsMaking(false)} />}
      {fresh !== undefined && <FreshKey made={fresh} onClose={() => setFresh(undefined)} />}
      <Loaded loading={list} what="keys">
        {(items) =>
          items.length === 0 ? (
            <Empty title="No keys yet">
              You are using the bootstrap key, which may do everything. Create a key for each program that calls Herald.
            </Empty>
          ) : (
            <>
              <ul class="rows">
                {items.map((key) => (
                  <KeyRow key={key.id} apiKey={key} onRotated={show} onRevoked={list.reload} />
                ))}
              </ul>
              <More {...list} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function FreshKey({ made, onClose }: { made: ApiKeyWithSecret; onClose: () => void }) {
  return (
    <Dialog title={`API key ${made.name}`} onClose={onClose}>
      <p>Save the key now. It is not shown again.</p>
      <Secret label="API key" value={made.key} />
      {made.old_secret_expires_at !== null && (
        <p class="fine">
          The previous secret works until <Time at={made.old_secret_expires_at} />.
        </p>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have saved it
        </button>
      </div>
    </Dialog>
  );
}

type RowProps = { apiKey: ApiKey; onRotated: (made: ApiKeyWithSecret) => void; onRevoked: () => void };

function KeyRow({ apiKey, onRotated, onRevoked }: RowProps) {
  const { me } = useConsole();
  const [asking, setAsking] = useState<"rotate" | "revoke">();
  const { id, name, scopes, organization, allowed_senders, cidrs, expires_at, last_used_at, old_secret_expires_at } =
    apiKey;
  const hasEnded = expires_at !== null && Date.parse(expires_at) <= Date.now();
  const close = () => setAsking(undefined);
  return (
    <li class="key-row">
      <div class="key-head">
        <strong>{name}</strong>
        {me.id === id && <Badge tone="accent">yours</Badge>}
        {hasEnded && <Badge tone="bad">expired</Badge>}
        {old_secret_expires_at !== null && <Badge tone="warn">rotating</Badge>}
        <span class="spacer" />
        <span class="together">
          <button type="button" class="small" aria-label={`Rotate ${name}`} onClick={() => setAsking("rotate")}>
            Rotate
          </button>
          <button type="button" class="small danger" aria-label={`Revoke ${name}`} onClick={() => setAsking("revoke")}>
            Revoke
          </button>
        </span>
      </div>
      <p class="mono fine">{id}</p>
      <Facts>
        <Fact name="May">{scopes.includes("*") ? "everything" : scopes.join(", ")}</Fact>
        <Fact name="Organization">{organization ?? "all"}</Fact>
        {allowed_senders !== null && <Fact name="Sends as">{allowed_senders.join(", ")}</Fact>}
        {cidrs !== null && <Fact name="From">{cidrs.join(", ")}</Fact>}
        <Fact name="Last used">{last_used_at === null ? "never" : <Time at={last_used_at} />}</Fact>
        <Fact name="Expires">{expires_at === null ? "never" : <Time at={expires_at} />}</Fact>
        {old_secret_expires_at !== null && (
          <Fact name="Old secret until">
            <Time at={old_secret_expires_at} />
          </Fact>
        )}
      </Facts>
      {asking === "rotate" && <Rotate apiKey={apiKey} onRotated={onRotated} onClose={close} />}
      {asking === "revoke" && <Revoke apiKey={apiKey} onRevoked={onRevoked} onClose={close} />}
    </li>
  );
}

const overlaps = [
  ["0", "stops working immediately"],
  ["3600", "works for another hour"],
  ["86400", "works for another 24 hours"],
  ["604800", "works for another 7 days"],
] as const;

function Rotate({
  apiKey,
  onRotated,
  onClose,
}: {
  apiKey: ApiKey;
  onRotated: RowProps["onRotated"];
  onClose: () => void;
}) {
  const { client } = useConsole();
  const [overlap, setOverlap] = useState("86400");
  const rotate = useAction(async () => {
    const made = await client.rotateKey(apiKey.id, { overlap_seconds: Number(overlap) });
    onClose();
    onRotated(made);
  });
  return (
    <Dialog title={`Rotate ${apiKey.name}`} onClose={onClose}>
      <p>The key gets a new secret and keeps its id and its permissions.</p>
      <ChoiceField label="The old secret" value={overlap} options={overlaps} onChange={setOverlap} />
      {rotate.error !== undefined && <Problem error={rotate.error} />}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={rotate.isBusy} onClick={() => rotate.run()}>
          Rotate
        </button>
      </div>
    </Dialog>
  );
}

function Revoke({ apiKey, onRevoked, onClose }: { apiKey: ApiKey; onRevoked: () => void; onClose: () => void }) {
  const { client, me, announce } = useConsole();
  const revoke = useAction(async () => {
    await client.revokeKey(apiKey.id);
    announce(`${apiKey.name} is revoked`);
    onClose();
    onRevoked();
  });
  return (
    <Confirm
      title={`Revoke ${apiKey.name}?`}
      verb="Revoke"
      isBusy={revoke.isBusy}
      onConfirm={() => revoke.run()}
      onClose={onClose}
    >
      <p>Every node refuses the key within 5 seconds. You cannot undo this.</p>
      {me.id === apiKey.id && <p>You are signed in with this key.</p>}
      {revoke.error !== undefined && <Problem error={revoke.error} />}
    </Confirm>
  );
}
