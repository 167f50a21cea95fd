import { useState } from "preact/hooks";
import type { WebhookEndpoint } from "../../../sdk/webhook-types.ts";
import { useConsole, useOrganization } from "../../state/context.ts";
import { useAction } from "../../state/loading.ts";
import { DeleteButton } from "../forms/delete.tsx";
import { Confirm } from "../forms/dialog.tsx";
import { SaveSecret } from "../forms/save-secret.tsx";
import { Problem } from "../problem.tsx";
import { WebhookForm } from "./webhook-form.tsx";

type Props = { webhook: WebhookEndpoint; onChange: () => void };

/** Buttons that edit a webhook, switch it on again, give it another secret, and delete it. */
export function WebhookTools({ webhook, onChange }: Props) {
  const { client, link, announce } = useConsole();
  const org = useOrganization();
  const { id, url, events, wait_seconds, until } = webhook;
  const [asking, setAsking] = useState<"edit" | "rotate">();
  const [secret, setSecret] = useState<string>();
  const close = () => setAsking(undefined);
  const enable = useAction(async () => {
    await client.getWebhook(org, id); // one that was deleted meanwhile is not to come back
    await client.putWebhook(org, id, { url, events, wait_seconds, until });
    announce(`${id} is switched on`);
    onChange();
  });
  return (
    <>
      <div class="feed-bar">
        {webhook.state === "disabled" && (
          <button type="button" class="small primary" disabled={enable.isBusy} onClick={() => enable.run()}>
            Switch on
          </button>
        )}
        <button type="button" class="small" onClick={() => setAsking("edit")}>
          Edit
        </button>
        <button type="button" class="small" onClick={() => setAsking("rotate")}>
          New secret
        </button>
        <DeleteButton
          id={id}
          act={() => client.deleteWebhook(org, id)}
          onDeleted={() => {
            location.hash = link("webhooks");
          }}
        >
          <p>Nothing more is posted to it. Its deliveries and its secret are gone, and you cannot undo this.</p>
        </DeleteButton>
      </div>
      {enable.error !== undefined && <Problem error={enable.error} />}
      {asking === "edit" && (
        <WebhookForm
          webhook={webhook}
          onSaved={() => {
            announce("Saved");
            close();
            onChange();
          }}
          onClose={close}
        />
      )}
      {asking === "rotate" && (
        <RotateSecret
          id={id}
          onRotated={(made) => {
            close();
            setSecret(made);
          }}
          onClose={close}
        />
      )}
      {secret !== undefined && (
        <SaveSecret
          title={`Secret of ${id}`}
          noun="secret"
          label="Secret"
          value={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  );
}

type RotateProps = { id: string; onRotated: (secret: string) => void; onClose: () => void };

function RotateSecret({ id, onRotated, onClose }: RotateProps) {
  const { client } = useConsole();
  const org = useOrganization();
  const rotate = useAction(async () => onRotated((await client.rotateWebhook(org, id)).secret));
  return (
    <Confirm
      title={`Make a new secret for ${id}?`}
      verb="Make a new secret"
      isBusy={rotate.isBusy}
      onConfirm={() => rotate.run()}
      onClose={onClose}
    >
      <p>For 24 hours, posts are signed with both the old secret and the new one. Then only the new one is used.</p>
      {rotate.error !== undefined && <Problem error={rotate.error} />}
    </Confirm>
  );
}
