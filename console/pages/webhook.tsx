import { useState } from "preact/hooks";
import type { WebhookDelivery, WebhookDeliveryState } from "../../sdk/webhook-types.ts";
import { Badge } from "../parts/badge.tsx";
import { Fact, Facts } from "../parts/facts.tsx";
import { ChoiceField } from "../parts/forms/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useAction, useLoading, usePages } from "../state/loading.ts";

type Choice = WebhookDeliveryState | "all";
const choices: readonly (readonly [Choice, string])[] = [
  ["all", "All"],
  ["waiting", "Waiting"],
  ["delivered", "Delivered"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
];
const tones = { waiting: "accent", delivered: "ok", failed: "bad", cancelled: "plain" } as const;

/** One webhook: where it posts, a test, and its deliveries with request and answer. */
export function Webhook() {
  const { client, route, announce } = useConsole();
  const org = useOrganization();
  const { id = "" } = route;
  const [choice, setChoice] = useState<Choice>("all");
  const webhook = useLoading(() => client.getWebhook(org, id), [org, id]);
  const list = usePages(
    (cursor) =>
      client.listWebhookDeliveries(org, id, {
        limit: 50,
        ...(choice !== "all" && { state: choice }),
        ...(cursor !== undefined && { cursor }),
      }),
    [org, id, choice],
  );
  const test = useAction(async () => {
    const { state } = await client.testWebhook(org, id);
    announce(state === "delivered" ? "The receiver accepted the test" : "The receiver did not accept the test");
    list.reload();
  });
  return (
    <>
      <Loaded loading={webhook} what="the webhook">
        {({ url, state, events, wait_seconds, until, created_at }) => (
          <Facts>
            <Fact name="Posts to" isMono>
              {url}
            </Fact>
            <Fact name="State">
              <Badge tone={state === "active" ? "ok" : "bad"}>{state}</Badge>
            </Fact>
            <Fact name="What">{events.join(", ")}</Fact>
            <Fact name="When">
              Of what was not {until}: {wait_seconds} s after the send
            </Fact>
            <Fact name="Created">
              <Time at={created_at} />
            </Fact>
          </Facts>
        )}
      </Loaded>
      <p>
        <button type="button" disabled={test.isBusy} onClick={() => test.run()}>
          {test.isBusy ? "Posting…" : "Post a test"}
        </button>
      </p>
      <h2>Deliveries</h2>
      <div class="filters">
        <ChoiceField
          label="State"
          value={choice}
          options={choices}
          onChange={(chosen) => setChoice(choices.map(([one]) => one).find((one) => one === chosen) ?? "all")}
        />
        <button type="button" disabled={list.isLoading} onClick={list.reload}>
          Refresh
        </button>
      </div>
      {test.error !== undefined && <Problem error={test.error} />}
      <Loaded loading={list} what="deliveries">
        {(items) =>
          items.length === 0 ? (
            <Empty title="None">Since the webhook was created, nothing has happened that it tells about.</Empty>
          ) : (
            <ul class="rows" aria-label="Deliveries">
              {items.map((delivery) => (
                <li key={delivery.id}>
                  <Delivery delivery={delivery} onChange={list.reload} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <More {...list} />
    </>
  );
}

function Delivery({ delivery, onChange }: { delivery: WebhookDelivery; onChange: () => void }) {
  const { client, route, announce } = useConsole();
  const org = useOrganization();
  const { id, state, created_at, tries, next_try_at, last_try, request } = delivery;
  const redeliver = useAction(async () => {
    await client.redeliverWebhook(org, route.id ?? "", id);
    announce("It is posted again");
    onChange();
  });
  const isTest = request?.type === "webhook.test";
  return (
    <article class="entry">
      <div class="entry-head">
        <strong>
          <Time at={created_at} isExact />
        </strong>
        <Badge tone={tones[state]}>{state}</Badge>
        <span>{String(request?.type ?? "what it told about is gone")}</span>
        <span class="spacer" />
        {(state === "delivered" || state === "failed") && request !== null && !isTest && (
          <button
            type="button"
            class="small"
            disabled={redeliver.isBusy}
            aria-label={`Redeliver ${id}`}
            onClick={() => redeliver.run()}
          >
            Redeliver
          </button>
        )}
      </div>
      <p class={state === "failed" ? "field-error" : "quiet"}>{answerOf(delivery)}</p>
      {redeliver.error !== undefined && <Problem error={redeliver.error} />}
      {request !== null && (
        <details>
          <summary>Request and answer</summary>
          <pre>{JSON.stringify(request, undefined, 2)}</pre>
          {last_try?.answer != null && last_try.answer !== "" && <pre>{last_try.answer}</pre>}
        </details>
      )}
      <p class="fine">
        <code>{id}</code>
        {` · ${tries} ${tries === 1 ? "try" : "tries"}`}
        {next_try_at !== null && (
          <>
            {" · next "}
            <Time at={next_try_at} />
          </>
        )}
      </p>
    </article>
  );
}

function answerOf({ last_try }: WebhookDelivery): string {
  if (last_try === null) return "Not posted yet";
  const { status, error, duration_ms } = last_try;
  return `${error ?? `The receiver answered ${status}`}, in ${duration_ms} ms`;
}
