import { useEffect, useRef, useState } from "preact/hooks";
import type { Node, NodeHistory } from "../../sdk/types.ts";
import { useConsole } from "./context.ts";
import { useRepeating } from "./loading.ts";
import { mostOthers } from "./organizations.ts";
import { failedLately, type ServiceFacts, type WebhooksOfOne } from "./troubles.ts";

const lookEveryMs = 2_000;
const looksPerHistory = 7; // the server takes a sample every 15 s
const lookAtOrganizationEveryMs = 15_000;
const lookAtOthersEveryMs = 30_000;
const mostRead = 1_000;

type Looked = {
  nodes: Node[] | undefined;
  history: NodeHistory | undefined;
  error: unknown;
  checks: ServiceFacts["checks"];
};

/** Follows the nodes, and what they did in the last half an hour. `isAllowed`: whether the key may read them. */
export function useNodes(isAllowed: boolean) {
  const { client, history, noteFailure } = useConsole();
  const [state, setState] = useState<Looked>({ nodes: undefined, history: undefined, error: undefined, checks: {} });
  const looks = useRef(0);
  const look = async () => {
    if (!isAllowed) return;
    try {
      const wantsHistory = looks.current++ % looksPerHistory === 0;
      const { items: nodes, history: told } = await client.listNodes(wantsHistory ? { history: true } : {});
      if (told !== undefined) history.remember(told, performance.now());
      history.add(nodes, performance.now());
      setState((before) => ({ nodes, history: told ?? before.history, error: undefined, checks: {} }));
    } catch (error) {
      noteFailure(error);
      looks.current = 0;
      setState((before) => ({ ...before, error }));
      const readiness = await client.getReadiness().catch(() => undefined);
      setState((before) => ({ ...before, checks: readiness?.checks ?? {} }));
    }
  };
  useRepeating(look, lookEveryMs, [isAllowed]);
  return state;
}

type OfOrganization = Pick<ServiceFacts, "organization" | "webhooks" | "failedSends"> & { error: unknown };
const none: OfOrganization = { organization: undefined, webhooks: [], failedSends: [], error: undefined };

/** Follows what may be wrong in the selected organization, as far as the key may read it; `undefined` while unknown. */
export function useOrganizationTroubles() {
  const { client, can, org, noteFailure } = useConsole();
  const [facts, setFacts] = useState<OfOrganization>();
  useEffect(() => setFacts((before) => (before === none ? none : undefined)), [org]); // the first may come late
  const look = async () => {
    if (org === undefined) return setFacts(none);
    try {
      const [organization, webhooks, failed] = await Promise.all([
        can("directory:read") ? client.getOrganization(org) : undefined,
        can("webhooks:manage") ? client.listWebhooks(org, { limit: mostRead }) : undefined,
        can("history:read") ? client.listScheduled(org, { state: "failed", limit: mostRead }) : undefined,
      ]);
      const failedSends = failedLately(failed?.items ?? [], Date.now());
      setFacts({ organization, webhooks: webhooks?.items ?? [], failedSends, error: undefined });
    } catch (error) {
      noteFailure(error);
      setFacts((before = none) => ({ ...before, error }));
    }
  };
  useRepeating(look, lookAtOrganizationEveryMs, [org]);
  return facts;
}

/** `isWhole`: each of them has been read once. */
type OfOthers = { others: WebhooksOfOne[]; isWhole: boolean; hasMore: boolean; error: unknown };
const noOthers: OfOthers = { others: [], isWhole: true, hasMore: false, error: undefined };
const unread: OfOthers = { ...noOthers, isWhole: false };

/** Follows the webhooks of up to 20 other organizations, as far as the key may read them; `undefined` while unknown. */
export function useOtherWebhooks() {
  const { client, can, me, org, noteFailure } = useConsole();
  const [state, setState] = useState<OfOthers>();
  const mayRead = me.organization === null && can("directory:read") && can("webhooks:manage");
  const look = async () => {
    if (!mayRead) return setState(noOthers);
    try {
      const { items, cursor } = await client.listOrganizations({ limit: mostOthers + 1 });
      const some = items.filter(({ id }) => id !== org).slice(0, mostOthers);
      const read = await Promise.allSettled(
        some.map(async ({ id, name }) => {
          const { items: webhooks } = await client.listWebhooks(id, { limit: mostRead });
          return { id, name, webhooks };
        }),
      );
      const error = read.find((one) => one.status === "rejected")?.reason;
      if (error !== undefined) noteFailure(error);
      setState((before) => {
        const known = (id: string | undefined) => before?.others.find((one) => one.id === id) ?? [];
        const others = read.flatMap((one, index) => (one.status === "fulfilled" ? one.value : known(some[index]?.id)));
        return { others, isWhole: others.length === some.length, hasMore: cursor !== null, error };
      });
    } catch (error) {
      noteFailure(error);
      setState((before = unread) => ({ ...before, error }));
    }
  };
  useRepeating(look, lookAtOthersEveryMs, [org, mayRead]);
  return state && { ...state, others: state.others.filter(({ id }) => id !== org) }; // another one may have been selected since
}
