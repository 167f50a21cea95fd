import { verifyWebhook, type Webhook } from "../../../sdk/webhooks.ts";
import type { Page } from "../clients/wire.ts";
import { DEADLINE_MS, within } from "../deadline.ts";
import { type Answer, TEST_KEY } from "./herald.ts";
import type { Organization } from "./organization.ts";

/** A post that came in, verified as a receiver would; `at` in milliseconds since the Unix epoch. */
export type Received = { webhook: Webhook; headers: Headers; bytes: number; at: number };

/** How a receiver answers a post; the argument counts from 1. */
export type Answers = (count: number) => Response | Promise<Response>;

/** A webhook, as the admin API shows it. */
export type Hook = {
  id: string;
  url: string;
  events: string[];
  wait_seconds: number;
  until: string;
  state: string;
  created_at: string;
  disabled_at: string | null;
  failing: { since: string; at: string; status: number | null; error: string } | null;
  secret?: string;
};

/** A delivery, as the admin API shows it. */
export type HookDelivery = {
  id: string;
  state: string;
  tries: number;
  next_try_at: string | null;
  last_try: {
    at: string;
    duration_ms: number;
    status: number | null;
    error: string | null;
    answer: string | null;
  } | null;
  request: Webhook | null;
};

/** Starts a server that receives webhooks. It refuses what is not signed with one of its `secrets`, `now` or a moment ago. */
export function startReceiver(
  answers: Answers = () => new Response(null, { status: 204 }),
  { port = 0, now = Date.now }: { port?: number; now?: () => number } = {},
) {
  const received: Received[] = [];
  const secrets: string[] = [];
  const waiting: (() => void)[] = [];
  let faults = 0;
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = await request.bytes();
      try {
        const webhook = await verifyWebhook({ headers: request.headers, body, secret: secrets, nowMs: now() });
        received.push({ webhook, headers: request.headers, bytes: body.length, at: now() });
      } catch {
        faults++;
        return new Response("not signed", { status: 400 });
      }
      const answer = answers(received.length);
      for (const tell of waiting.splice(0)) tell();
      return await answer;
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    port: server.port ?? 0,
    received,
    secrets,
    /** How many posts were refused. */
    faults: () => faults,
    /** The first so many posts, as soon as they have come. */
    async first(count: number): Promise<Received[]> {
      const all = async () => {
        while (received.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      };
      await within(all(), `${count} webhooks, of which ${received.length} have come`, DEADLINE_MS);
      return received.slice(0, count);
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** A server that receives webhooks. */
export type Receiver = ReturnType<typeof startReceiver>;

const lookAgainMs = 20;

/** What tests do with the webhooks of an organization. */
export function hooksOf({ herald, path }: Organization) {
  const call = <T>(method: string, segments: string[], body?: unknown, key = TEST_KEY): Promise<Answer<T>> =>
    herald.admin<T>(method, path("webhooks", ...segments), body, { "Admin-Api-Key": key });
  const deliveries = async (id: string, state?: string) =>
    (
      await herald.admin<Page<HookDelivery>>(
        "GET",
        path("webhooks", id, "deliveries") + (state === undefined ? "" : `?state=${state}`),
      )
    ).body.items;
  return {
    call,
    deliveries,
    /** Creates a webhook that leads to the receiver, and lets that know its secret. */
    async toReceiver(id: string, receiver: Receiver, settings: object = {}): Promise<Hook> {
      const answer = await call<Hook>("PUT", [id], { url: receiver.url, wait_seconds: 1, ...settings });
      if (answer.status !== 201) throw new Error(`no webhook ${id}: ${answer.text}`);
      receiver.secrets.push(answer.body.secret ?? "");
      return answer.body;
    },
    /** The deliveries of a webhook once they are as they should be. */
    async deliveriesWhen(id: string, isGood: (items: HookDelivery[]) => boolean): Promise<HookDelivery[]> {
      for (const end = Date.now() + DEADLINE_MS; ; ) {
        const items = await deliveries(id);
        if (isGood(items)) return items;
        if (Date.now() > end) throw new Error(`the deliveries of ${id} are still ${JSON.stringify(items)}`);
        await Bun.sleep(lookAgainMs);
      }
    },
  };
}
