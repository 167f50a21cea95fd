import { useState } from "preact/hooks";
import type { WebhookEndpoint, WebhookEvent, WebhookSettings } from "../../../sdk/webhook-types.ts";
import { unreachedEvents, webhookEvents } from "../../../src/contract/webhooks/events.ts";
import { useConsole, useOrganization } from "../../state/context.ts";
import { ChecksField, ChoiceField, TextField } from "../forms/field.tsx";
import { FormDialog } from "../forms/form-dialog.tsx";
import { requireNew, useForm } from "../forms/use-form.ts";

const meanings: Record<WebhookEvent, string> = {
  "message.unreached": "A message has not reached somebody in time.",
  "system_message.unreached": "A system message has not reached somebody in time.",
  "message.read": "Somebody has read messages.",
  "scheduled.failed": "A scheduled send was refused when it was due.",
  "proposal.waiting": "A proposal waits for a decision.",
  "message.undeliverable": "A delivery to another webhook has failed for good.",
  "users.presence": "Who is online, who comes and who goes.",
};
const untils = [
  ["delivered", "it is delivered"],
  ["acknowledged", "it is acknowledged"],
] as const;

/** What has a field in the form. `/wid` is part of the address. */
const pointers = ["/wid", "/url", "/events", "/wait_seconds", "/until"] as const;

type Props = {
  /** The webhook to change; without one, the form creates a webhook. */
  webhook?: WebhookEndpoint;
  onSaved: (saved: WebhookEndpoint & { secret?: string }) => void;
  onClose: () => void;
};

/** A form for a new webhook, or for the settings of one. */
export function WebhookForm({ webhook, onSaved, onClose }: Props) {
  const { client } = useConsole();
  const org = useOrganization();
  const [id, setId] = useState("");
  const [url, setUrl] = useState(webhook?.url ?? "https://");
  const [events, setEvents] = useState<readonly WebhookEvent[]>(webhook?.events ?? unreachedEvents);
  const [wait, setWait] = useState(String(webhook?.wait_seconds ?? 10));
  const [until, setUntil] = useState<WebhookEndpoint["until"]>(webhook?.until ?? "delivered");
  const settings: WebhookSettings = { url, events: [...events], wait_seconds: Number(wait), until };
  const form = useForm({
    pointers,
    mistakes: {
      ...(webhook === undefined && id === "" && { "/wid": "Enter an id for the webhook." }),
      ...(["", "https://"].includes(url) && { "/url": "Enter where Herald posts." }),
      ...(events.length === 0 && { "/events": "Choose at least one event." }),
      ...(!/^\d+$/.test(wait) && { "/wait_seconds": "Enter a number of seconds." }),
    },
    act: async () => {
      // A PUT creates what does not exist: a webhook that was deleted meanwhile is not to come back.
      if (webhook !== undefined) await client.getWebhook(org, webhook.id);
      else
        await requireNew(client.getWebhook(org, id), {
          pointer: "/wid",
          detail: "Another webhook has this id.",
        });
      onSaved(await client.putWebhook(org, webhook?.id ?? id, settings));
    },
  });
  const { errorOf } = form;
  const toggle = (event: WebhookEvent) =>
    setEvents((before) => webhookEvents.filter((one) => before.includes(one) !== (one === event)));
  return (
    <FormDialog
      title={webhook === undefined ? "New webhook" : `Edit ${webhook.id}`}
      verb={webhook === undefined ? "Create the webhook" : "Save"}
      form={form}
      call={{ action: "putWebhook", names: { org, wid: webhook?.id ?? id }, body: settings }}
      onClose={onClose}
    >
      {webhook === undefined && (
        <TextField
          label="Id"
          hint="A name for this webhook, such as push. It cannot be changed."
          value={id}
          onChange={setId}
          error={errorOf("/wid")}
          isId
        />
      )}
      <TextField label="Posts to" value={url} onChange={setUrl} error={errorOf("/url")} isId />
      <ChecksField
        label="What it is told"
        options={webhookEvents.map((event) => [event, meanings[event]])}
        chosen={events}
        onToggle={toggle}
        error={errorOf("/events")}
      />
      <div class="pair">
        <TextField
          label="Waits (seconds)"
          hint="After a send, for those who are not reached; after a user is gone."
          value={wait}
          onChange={setWait}
          error={errorOf("/wait_seconds")}
          inputmode="numeric"
        />
        <ChoiceField
          label="Reached once"
          value={until}
          options={untils}
          onChange={setUntil}
          error={errorOf("/until")}
        />
      </div>
    </FormDialog>
  );
}
