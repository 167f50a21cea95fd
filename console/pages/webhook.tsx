import { useState } from "preact/hooks";
import type { WebhookDelivery, WebhookDeliveryState, WebhookEndpoint } from "../../sdk/webhook-types.ts";
import { Badge } from "../parts/badge.tsx";
import { Fact, Facts } from "../parts/facts.tsx";
import { LongList } from "../parts/long-list.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateFilter } from "../parts/state-filter.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { RedeliverAll } from "../parts/webhooks/redeliver-all.tsx";
import { WebhookAlarm, WebhookState } from "../parts/webhooks/webhook-state.tsx";
import { WebhookTools } from "../parts/webhooks/webhook-tools.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useAction, useLoading, usePages, useRepeating } from "../state/loading.ts";
import { canBeRedelivered } from "../state/redelivery.ts";

type Choice = WebhookDeliveryState | "all";
const choices: readonly (readonly [Choice, string])[] = [
  ["all", "All"],
  ["waiting", "Waiting for a try"],
  ["delivered", "Delivered"],
  ["failed", "Failed for good"],
  ["cancelled", "Cancelled"],
];
const lookEveryMs = 5_000;
const rowHeight = 145;
const tones = { waiting: "accent", delivered: "ok", failed: "bad", cancelled: "plain" } as const;

/** One webhook: where it posts, its settings, a test, and its deliveries with request and answer. */
export function Webhook() {
  const { client, route, announce } = useConsole();
  const org = useOrganization();
  const { id = "" } = route;
  const [choice, setChoice] = useState<Choice>("all");
  const webhook = useLoading(() => client.getWebhook(org, id), [org, id]);
  useRepeating(async () => webhook.reload(), lookEveryMs, [org, id]);
  const list = usePages(
    (cursor, limit) =>
      client.listWebhookDeliveries(org, id, {
        limit,
        ...(choice !== "all" && { state: choice }),
        ...(cursor !== undefined && { cursor }),
      }),
    [org, id, choice],
    { name: "deliveries", size: 20 }, // each with what is posted, up to 20 kB
  );
  const test = useAction(async () => {
    const { state } = await client.testWebhook(org, id);
    announce(state === "delivered" ? "The receiver accepted the test" : "The receiver did not accept the test");
    list.reload();
    webhook.reload();
  });
  return (
    <>
      <Loaded loading={webhook} what="the webhook">
        {(shown) => (
          <>
            <WebhookAlarm webhook={shown} answer={answerAt(list.value, shown.failing?.at)} />
            <About webhook={shown} />
            <WebhookTools webhook={shown} onChange={webhook.reload} />
          </>
        )}
      </Loaded>
      <div class="feed-bar">
        <h2>Deliveries</h2>
        <span class="spacer" />
        <button type="button" class="small" disabled={test.isBusy} onClick={() => test.run()}>
          {test.isBusy ? "Posting…" : "Post a test"}
        </button>
        {webhook.value?.state === "active" && (
          <RedeliverAll
            id={id}
            onEnd={() => {
              list.reload();
              webhook.reload();
            }}
          />
        )}
      </div>
      <StateFilter state={choice} choices={choices} onChange={setChoice} list={list} />
      {test.error !== undefined && <Problem error={test.error} />}
      <Loaded loading={list} what="deliveries">
        {(items) =>
          items.length === 0 ? (
            <NoDeliveries choice={choice} isFailing={webhook.value?.failing != null} onChoose={setChoice} />
          ) : (
            <LongList label="Deliveries" items={items} hasMore={list.hasMore} rowHeight={rowHeight}>
              {(delivery) => <Delivery delivery={delivery} onChange={list.reload} />}
            </LongList>
          )
        }
      </Loaded>
      <More {...list} />
    </>
  );
}

/** What the receiver answered then, if it is among the deliveries that are shown, or else what it answered in the newest that failed. */
function answerAt(deliveries: readonly WebhookDelivery[] = [], at: string | undefined): string | undefined {
  const tries = deliveries.flatMap(({ last_try }) => (last_try?.error == null ? [] : [last_try]));
  return (tries.find((one) => one.at === at) ?? tries[0])?.answer ?? undefined;
}

function About({ webhook }: { webhook: WebhookEndpoint }) {
  const { url, events, wait_seconds, until, created_at } = webhook;
  return (
    <Facts>
      <Fact name="Posts to" isMono>
        {url}
      </Fact>
      <Fact name="State">
        <WebhookState webhook={webhook} />
      </Fact>
      <Fact name="What">{events.join(", ")}</Fact>
      <Fact name="When">
        Of what was not {until}: {wait_seconds} s after the send
      </Fact>
      <Fact name="Created">
        <Time at={created_at} />
      </Fact>
    </Facts>
  );
}

type NoDeliveriesProps = { choice: Choice; isFailing: boolean; onChoose: (choice: Choice) => void };

function NoDeliveries({ choice, isFailing, onChoose }: NoDeliveriesProps) {
  if (choice === "failed") {
    return (
      <Empty title="None has failed for good">
        A delivery fails for good after three days of tries.{" "}
        {isFailing && (
          <button type="button" class="small" onClick={() => onChoose("waiting")}>
            Show what waits for its next try
          </button>
        )}
      </Empty>
    );
  }
  if (choice !== "all") return <Empty title={`Nothing is ${choice}`} />;
  return <Empty title="Nothing yet">Since the webhook was created, nothing has happened that it tells about.</Empty>;
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
  return (
    <article class="entry">
      <div class="entry-head">
        <strong>
          <Time at={created_at} isExact />
        </strong>
        {state === "waiting" && tries > 0 ? (
          <Badge tone="warn">waits for try {tries + 1}</Badge>
        ) : (
          <Badge tone={tones[state]}>{state}</Badge>
        )}
        <span>{String(request?.type ?? "what it told about is gone")}</span>
        <span class="spacer" />
        {canBeRedelivered(delivery) && (
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
      <p class={last_try?.error == null ? "quiet" : "field-error"}>{answerOf(delivery)}</p>
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
