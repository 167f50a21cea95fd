import type { PresencePart } from "../../../src/store/presence/ports.ts";
import type { Driver, Row } from "../../../src/store/sql/driver.ts";
import type { Told } from "./judge.ts";

type PlaceRow = Row & { webhook: string; seq: number; holder: string };
type Notice = { data: PresencePart & { seq: number } };

const findPlaces = "SELECT webhook, seq, holder FROM webhook_presence";
const findNotices = "SELECT id, notice FROM webhook_delivery WHERE webhook = ?";

/** Watches what is committed for webhooks. */
export function createTelling(shared: Driver, now: () => number) {
  const told = new Map<string, Told[]>();
  const ids = new Set<string>(); // of deliveries that are noted
  const holders = new Map<string, Set<string>>();
  const of = (webhook: string) => told.get(webhook) ?? [];

  return {
    /** Called after each commit: notes the parts that it has stored. */
    async note(): Promise<void> {
      for (const { webhook, seq, holder } of await shared.all<PlaceRow>(findPlaces)) {
        if (holder !== "") holders.set(webhook, (holders.get(webhook) ?? new Set()).add(holder));
        const known = of(webhook);
        if (Number(seq) === known.at(-1)?.seq || Number(seq) === 0) continue;
        const notices = await shared.all<{ id: string; notice: string }>(findNotices, webhook);
        const fresh = notices.filter(({ id }) => !ids.has(id));
        for (const { id } of fresh) ids.add(id);
        const parts = fresh.map(({ notice }) => ({ ...(JSON.parse(notice) as Notice).data, at: now() }));
        told.set(webhook, [...known, ...parts]);
      }
    },
    /** The parts of a webhook, in the order of their commits. */
    of,
    /** The users who are noted to be online by what a webhook was told. */
    async storedFor(webhook: string): Promise<string[]> {
      const find = "SELECT uid FROM webhook_online WHERE webhook = ? ORDER BY uid";
      return (await shared.all<{ uid: string }>(find, webhook)).map(({ uid }) => uid);
    },
    async isFollowed(webhook: string): Promise<boolean> {
      return (await shared.all<PlaceRow>(findPlaces)).some((place) => place.webhook === webhook);
    },
    figures: () => ({
      parts: [...told.values()].reduce((sum, parts) => sum + parts.length, 0),
      takeovers: [...holders.values()].reduce((sum, { size }) => sum + size - 1, 0),
    }),
  };
}
