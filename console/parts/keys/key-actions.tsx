import { useState } from "preact/hooks";
import type { ApiKey, ApiKeyWithSecret } from "../../../sdk/types.ts";
import { useConsole } from "../../state/context.ts";
import { useAction } from "../../state/loading.ts";
import { Confirm, Dialog } from "../forms/dialog.tsx";
import { ChoiceField } from "../forms/field.tsx";
import { Problem } from "../problem.tsx";

type Inputs = { onRotated: (made: ApiKeyWithSecret) => void; onRevoked: () => void };

/** The buttons that rotate and revoke a key, and `dialog`, in which one of that is confirmed. */
export function useKeyActions({ onRotated, onRevoked }: Inputs) {
  const [asked, setAsked] = useState<{ to: "rotate" | "revoke"; apiKey: ApiKey }>();
  const close = () => setAsked(undefined);
  return {
    buttonsOf: (apiKey: ApiKey) => (
      <span class="together">
        <button
          type="button"
          class="small"
          aria-label={`Rotate ${apiKey.name}`}
          onClick={() => setAsked({ to: "rotate", apiKey })}
        >
          Rotate
        </button>
        <button
          type="button"
          class="small danger"
          aria-label={`Revoke ${apiKey.name}`}
          onClick={() => setAsked({ to: "revoke", apiKey })}
        >
          Revoke
        </button>
      </span>
    ),
    dialog: (
      <>
        {asked?.to === "rotate" && <Rotate apiKey={asked.apiKey} onRotated={onRotated} onClose={close} />}
        {asked?.to === "revoke" && <Revoke apiKey={asked.apiKey} onRevoked={onRevoked} onClose={close} />}
      </>
    ),
  };
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
  onRotated: (made: ApiKeyWithSecret) => void;
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
