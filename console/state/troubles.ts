import type { Node, NodeHistory, NodeProblem, NodeSample, Organization, ScheduledSend } from "../../sdk/types.ts";
import type { WebhookEndpoint } from "../../sdk/webhook-types.ts";
import { nameOf } from "./organizations.ts";

/** Where something is mended: a page of the console, or of the documentation. */
export type Remedy = { page: string; id?: string; query?: Record<string, string>; org?: string } | { docs: string };

/** Something that is wrong now. `since` is `undefined` if Herald does not keep it. */
export type Trouble = { what: string; since: string | undefined; isBad: boolean; remedy: Remedy };

/** What is known of the service, and of the selected organization, as far as the key may read it. */
export type ServiceFacts = {
  nodes: readonly Node[];
  history: NodeHistory | undefined;
  /** What the node that answers says of itself, if the nodes cannot be listed. */
  checks: Record<string, string>;
  /** When the server answered last, if it does not. */
  asOf: number | undefined;
  organization: Organization | undefined;
  webhooks: readonly WebhookEndpoint[];
  failedSends: readonly ScheduledSend[];
  /** The webhooks of other organizations. */
  others: readonly WebhooksOfOne[];
};

/** The webhooks of an organization. */
export type WebhooksOfOne = { id: string; name: string | null; webhooks: readonly WebhookEndpoint[] };

const nearlyFull = 0.8;
const manyLagging = 1_000; // as in deploy/prometheus/alerts.yml
const lookBackMs = 5 * 60_000;
const manyTokens = 5; // some always expire
const sampleSeconds = 15;
const dayMs = 24 * 3_600_000;
const log = { docs: "monitor#what-the-log-says-and-what-to-do" };

/** What is wrong now: what is bad first, then what has been so for longest. */
export function findTroubles(facts: ServiceFacts): Trouble[] {
  const troubles = [...ofChecks(facts), ...ofNodes(facts), ...ofHistory(facts), ...ofOrganization(facts)];
  const rank = ({ isBad, since }: Trouble) => `${isBad ? 0 : 1} ${since ?? "9"}`;
  return troubles.sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
}

/** What people call a node. */
export function nodeName({ name, url, id }: Pick<Node, "name" | "url" | "id">): string {
  return name ?? (url === "" ? id : url.replace(/^https?:\/\//, "").replace(/\/$/, ""));
}

function ofChecks({ checks, asOf }: ServiceFacts): Trouble[] {
  const since = asOf === undefined ? undefined : new Date(asOf).toISOString();
  return Object.entries(checks).flatMap(([check, says]) =>
    says === "ok" ? [] : [{ what: `The ${check} of the node that answers: ${says}`, since, isBad: true, remedy: log }],
  );
}

const problems: Record<NodeProblem["kind"], { what: string; isBad: boolean; remedy: Remedy }> = {
  database: { what: "The database is away: sends and changes are refused", isBad: true, remedy: log },
  bus: { what: "The bus is away: messages from other nodes arrive up to 5 s late", isBad: false, remedy: log },
  files: { what: "The store of files is away: uploads and downloads fail", isBad: true, remedy: log },
  outbox: { what: "The database of the outbox is away: what is committed there waits", isBad: true, remedy: log },
  identity_provider: {
    what: "The identity provider is away: tokens signed with new keys are refused",
    isBad: false,
    remedy: log,
  },
  sign_in_provider: { what: "The OpenID provider is away: nobody can sign in", isBad: false, remedy: log },
  outbox_waits: { what: "Rows of the outbox wait", isBad: false, remedy: { docs: "send-from-a-transaction" } },
  webhooks_wait: { what: "Webhooks are told late", isBad: false, remedy: { page: "webhooks" } },
  scheduled_wait: { what: "Scheduled sends are late", isBad: false, remedy: { page: "scheduled" } },
  stopping: { what: "Stopping", isBad: false, remedy: { docs: "run-a-cluster" } },
};

function ofNodes({ nodes, history }: ServiceFacts): Trouble[] {
  const silent = nodes
    .filter(({ state }) => state === "silent")
    .map((node) => ({
      what: `${nodeName(node)} is silent: it has crashed, hangs or is disconnected`,
      since: node.reported_at,
      isBad: true,
      remedy: log,
    }));
  const live = nodes.filter(({ state }) => state === "live");
  const kinds = new Map<NodeProblem["kind"], { names: string[]; since: string | undefined }>();
  for (const node of live)
    for (const { kind, since } of problemsOf(node)) {
      const { names, since: first } = kinds.get(kind) ?? { names: [], since };
      const earliest = first !== undefined && (since === undefined || first < since) ? first : since;
      kinds.set(kind, { names: [...names, nodeName(node)], since: earliest });
    }
  const told = [...kinds].map(([kind, { names, since }]) => {
    const { what, ...rest } = problems[kind];
    return { what: nodes.length === 1 ? what : `${what} (${names.join(", ")})`, since, ...rest };
  });
  const most = Math.max(0, ...live.map(({ lag_events }) => lag_events));
  const lag = {
    what: `Deliveries lag: ${most.toLocaleString("en-GB")} stored events are not delivered yet`,
    since: sinceWhen(history, ({ lag_events }) => lag_events > manyLagging),
    isBad: true,
    remedy: { docs: "monitor#alerts" },
  };
  return [...silent, ...told, ...(most > manyLagging ? [lag] : [])];
}

/** Nodes of earlier versions tell only whether the bus is there, not since when. */
function problemsOf({ problems, figures }: Node): { kind: NodeProblem["kind"]; since: string | undefined }[] {
  const known = problems ?? [];
  if (figures.bus !== "down" || known.some(({ kind }) => kind === "bus")) return known;
  return [...known, { kind: "bus", since: undefined }];
}

/** What the counters of the last five minutes say. */
function ofHistory({ history }: ServiceFacts): Trouble[] {
  const recent = recentOf(history);
  const averageOf = (rateOf: (sample: NodeSample) => number | null) => {
    const rates = recent.map(rateOf).filter((rate) => rate !== null);
    return rates.length === 0 ? 0 : rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  };
  const perMinute = (rate: number) => `${Math.max(1, Math.round(rate * 60)).toLocaleString("en-GB")} a minute`;
  const [errors, keys, tokens, limited] = [
    averageOf(({ send_errors }) => send_errors),
    averageOf(({ refused_keys }) => refused_keys),
    averageOf(({ refused_tokens }) => refused_tokens),
    averageOf(({ rate_limited = null }) => rate_limited),
  ];
  const isMany = recent.reduce((sum, one) => sum + (one.refused_tokens ?? 0) * sampleSeconds, 0) >= manyTokens;
  const since = (rateOf: (sample: NodeSample) => number | null) =>
    sinceWhen(history, (sample) => (rateOf(sample) ?? 0) > 0);
  const troubles: (Trouble | false)[] = [
    errors > 0 && {
      what: `Sends fail with 5xx: about ${perMinute(errors)}`,
      since: since(({ send_errors }) => send_errors),
      isBad: true,
      remedy: log,
    },
    keys > 0 && {
      what: `Calls without a valid key: about ${perMinute(keys)}`,
      since: since(({ refused_keys }) => refused_keys),
      isBad: false,
      remedy: { page: "audit", query: { result: "no_key" } },
    },
    isMany && {
      what: `User tokens are refused: about ${perMinute(tokens)}`,
      since: since(({ refused_tokens }) => refused_tokens),
      isBad: false,
      remedy: { docs: "console#see-why-somebody-does-not-have-it" },
    },
    limited > 0 && {
      what: `Calls over a limit are refused with 429: about ${perMinute(limited)}`,
      since: since(({ rate_limited = null }) => rate_limited),
      isBad: false,
      remedy: { docs: "configure#limits" },
    },
  ];
  return troubles.filter((one) => one !== false);
}

function recentOf(history: NodeHistory | undefined): NodeSample[] {
  if (history === undefined) return [];
  const from = Date.parse(history.read_at) - lookBackMs;
  return history.samples.filter(({ at }) => Date.parse(at) > from);
}

/** When the latest run of samples that are so began, of which the last may have been up to five minutes ago. */
function sinceWhen(history: NodeHistory | undefined, isSo: (sample: NodeSample) => boolean): string | undefined {
  let since: string | undefined;
  let soAt = Number.NEGATIVE_INFINITY;
  for (const sample of history?.samples ?? []) {
    if (!isSo(sample)) continue;
    const at = Date.parse(sample.at);
    if (at - soAt > lookBackMs) since = sample.at;
    soAt = at;
  }
  return since;
}

function ofOrganization({ organization, webhooks, failedSends, others }: ServiceFacts): Trouble[] {
  const failing = [
    ...ofWebhooks(webhooks, others.length === 0 ? undefined : organization),
    ...others.flatMap((one) => ofWebhooks(one.webhooks, one)),
  ];
  const [first] = failedSends;
  const sends: Trouble[] =
    first === undefined
      ? []
      : [
          {
            what: `${failedSends.length === 1 ? "A scheduled send has" : `${failedSends.length} scheduled sends have`} failed in the last day`,
            since: first.send_at,
            isBad: true,
            remedy: { page: "scheduled", query: { state: "failed" } },
          },
        ];
  return [...failing, ...sends, ...(organization === undefined ? [] : ofLimits(organization))];
}

/** Webhooks that fail or are switched off. `owner` is named where there are several organizations. */
function ofWebhooks(webhooks: readonly WebhookEndpoint[], owner?: Pick<Organization, "id" | "name">): Trouble[] {
  return webhooks.flatMap(({ id, state, disabled_at, failing }): Trouble[] => {
    const what = `The webhook ${id}${owner === undefined ? "" : ` of ${nameOf(owner)}`}`;
    const remedy: Remedy = { page: "webhooks", id, ...(owner !== undefined && { org: owner.id }) };
    if (state === "disabled")
      return [{ what: `${what} is switched off`, since: disabled_at ?? undefined, isBad: true, remedy }];
    if (failing === null) return [];
    return [{ what: `${what} fails: ${failing.error}`, since: failing.since, isBad: true, remedy }];
  });
}

const limits = {
  requests_per_second: "requests per second",
  messages_per_second: "messages per second",
  connections: "connections",
  stored_bytes: "stored bytes",
} as const;

/** Limits of the organization's own; those of the server are not told. */
function ofLimits({ id, limits: most, usage }: Organization): Trouble[] {
  return Object.entries(limits).flatMap(([name, what]) => {
    const limit = most[name as keyof typeof limits];
    const used = usage[name as keyof typeof limits];
    if (limit === null || limit === 0 || used === null || used < limit * nearlyFull) return [];
    const share = Math.floor((used / limit) * 100);
    return [
      {
        what: `${id} uses ${share} % of its ${what}`,
        since: undefined,
        isBad: used >= limit,
        remedy: { page: "organizations", id },
      },
    ];
  });
}

/** Those of the failed sends that were due within the last day. */
export function failedLately(sends: readonly ScheduledSend[], now: number): ScheduledSend[] {
  return sends.filter(({ send_at }) => Date.parse(send_at) > now - dayMs);
}
