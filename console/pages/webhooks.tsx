import { useState } from "preact/hooks";
import type { WebhookEndpoint } from "../../sdk/webhook-types.ts";
import { idColumn } from "../parts/columns.tsx";
import { SaveSecret } from "../parts/forms/save-secret.tsx";
import { Empty } from "../parts/states.tsx";
import { type Column, LoadedTable } from "../parts/table.tsx";
import { WebhookForm } from "../parts/webhooks/webhook-form.tsx";
import { WebhookState } from "../parts/webhooks/webhook-state.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { usePages, useRepeating } from "../state/loading.ts";
import { compareTexts, useOrder } from "../state/order.ts";
import { useNewForm } from "../state/use-new-form.ts";

const lookEveryMs = 5_000;

const about: readonly Column<WebhookEndpoint>[] = [
  {
    title: "Posts to",
    width: "minmax(0, 3fr)",
    compare: (left, right) => compareTexts(left.url, right.url),
    cell: ({ url }) => <span class="mono">{url}</span>,
  },
  { title: "What", width: "minmax(0, 3fr)", isTold: true, cell: ({ events }) => events.join(", ") },
  {
    title: "When",
    width: "13rem",
    isTold: true,
    cell: ({ wait_seconds, until }) => `after ${wait_seconds} s, until ${until}`,
  },
  {
    title: "State",
    width: "13.5rem",
    isLargestFirst: true,
    compare: (left, right) => severityOf(left) - severityOf(right),
    cell: (webhook) => <WebhookState webhook={webhook} />,
  },
];

function severityOf({ state, failing }: WebhookEndpoint): number {
  return state === "disabled" ? 2 : failing === null ? 0 : 1;
}

/** The webhooks of the organization, each a link to its deliveries, and a form for another one. */
export function Webhooks() {
  const { client, link } = useConsole();
  const org = useOrganization();
  const list = usePages(
    (cursor, limit) => client.listWebhooks(org, { limit, ...(cursor !== undefined && { cursor }) }),
    [org],
    { name: "webhooks", size: 50 },
  );
  useRepeating(async () => list.reload(), lookEveryMs, [org]);
  const columns = [idColumn<WebhookEndpoint>((one) => link("webhooks", one)), ...about];
  const ordering = useOrder({ list, columns, given: "Id" });
  const [isMaking, setIsMaking] = useNewForm("webhooks");
  const [fresh, setFresh] = useState<{ id: string; secret: string }>();
  const create = (
    <button type="button" class="primary" onClick={() => setIsMaking(true)}>
      New webhook
    </button>
  );
  return (
    <>
      {list.value !== undefined && list.value.length > 0 && (
        <div class="feed-bar">
          <span class="spacer" />
          {create}
        </div>
      )}
      {isMaking && (
        <WebhookForm
          onSaved={({ id, secret }) => {
            setIsMaking(false);
            if (secret !== undefined) setFresh({ id, secret });
            list.reload();
          }}
          onClose={() => setIsMaking(false)}
        />
      )}
      {fresh !== undefined && (
        <SaveSecret
          title={`Secret of ${fresh.id}`}
          noun="secret"
          label="Secret"
          value={fresh.secret}
          onClose={() => setFresh(undefined)}
        />
      )}
      <LoadedTable
        label="Webhooks"
        list={list}
        ordering={ordering}
        columns={columns}
        empty={
          <Empty title="No webhooks">
            <p>A webhook tells your backend who was not reached, or what else it asks for.</p>
            {create}
          </Empty>
        }
      />
    </>
  );
}
