import { toNobody } from "../../../src/gateway/fanout/played.ts";
import { createRecalled } from "../../../src/gateway/log/recalled.ts";
import { gatewayParts } from "../../../src/gateway/parts.ts";
import type { NewMark } from "../../../src/store/inbox/ports.ts";
import type { LogTransaction } from "../../../src/store/log/log-writer.ts";
import type { Row } from "../../../src/store/sql/driver.ts";
import { type Product, product } from "../product.ts";
import { overriding } from "./overriding.ts";
import { withFanout, withPart, withRecovery, withSequencerPart, withSequencersThat } from "./parts.ts";

type InboxDependencies = Parameters<Product["createInboxes"]>[0];
type KeptReads = Parameters<Product["createRecovery"]>[0]["inboxes"];

/** `since` gives kept system messages, and no recalls of them. */
export const replaysNoSystemRecalls = withKeptReads(({ readMissedKept }) => ({
  readMissedKept: async (...of) => (await readMissedKept(...of)).filter(({ kind }) => kind === "system"),
}));

/** `since` gives no kept system messages. */
export const replaysNothingKept = withKeptReads(() => ({ readMissedKept: async () => [] }));

/** Kept system messages are not counted among what is missed. */
export const countsNothingKept = withKeptReads(() => ({ countMissedKept: async () => 0 }));

/** A page of what was missed has the kept system messages last. */
export const replaysKeptLast = withRecovery(({ read }) => ({
  async read(...of) {
    const page = await read(...of);
    return [...page.filter(({ kind }) => kind !== "system"), ...page.filter(({ kind }) => kind === "system")];
  },
}));

/** What was read before a recall of system messages is written after it. */
export const forgetsSystemRecalls = withSequencerPart({
  createRecalled() {
    const recalled = createRecalled();
    return { ...recalled, has: (text) => text?.startsWith("system") !== true && recalled.has(text) };
  },
});

/** System messages that wait for slow streams stay. */
export const keepsWaitingSystemMessages = withPart({
  createPlayer: (dependencies) =>
    gatewayParts.createPlayer({
      ...dependencies,
      backlog: {
        suspect: dependencies.backlog.suspect,
        withdraw: (org, texts) =>
          dependencies.backlog.withdraw(org, new Set([...texts].filter((text) => !text.startsWith("system")))),
      },
    }),
});

/** Who joins hears of no recall of system messages that was played meanwhile. */
export const joinsWithoutSystemRecalls = withSequencersThat((sequencer) => ({
  playedAfter: (offset) => sequencer.playedAfter(offset)?.filter(({ kind }) => kind !== "system_recall"),
}));

/** What a user marks is told to one socket. Parts of topics must have one. */
export const tellsMarksToOne = withFanout(({ publish }, { sockets }) => ({
  publish(topic, event, onSlow) {
    if (event.kind !== "system_read") return publish(topic, event, onSlow);
    sockets.publish(topic, event.payload);
    return toNobody;
  },
}));

export const playsMarksToNobody = withPart({
  createPlayer(dependencies) {
    const play = gatewayParts.createPlayer(dependencies);
    return (event) => (event.kind === "system_read" ? toNobody : play(event));
  },
});

/** What comes while a user connects is counted, and heard. */
export const countsBeyondSnapshot: Product = {
  ...product,
  createInboxes(dependencies) {
    const inboxes = product.createInboxes(dependencies);
    return { ...inboxes, countUnread: (reader) => inboxes.countUnread({ ...reader, head: Number.POSITIVE_INFINITY }) };
  },
};

export const countsSilent = withInboxReads(({ items }) => ({
  items: async (...of) => (await items(...of)).map((item) => ({ ...item, isSilent: false })),
}));

/** Marks are not looked at again under the lock. */
export const trustsMarksOfTheLook = withMarkRows(() => ({ inbox_mark: [] }));

/** Whether the log is still the one that was looked at is not looked at again. */
export const marksAnyLog = withMarkRows((marks) => ({
  event: marks.flatMap(({ org, items, upTo }) =>
    [...items, ...(upTo === undefined ? [] : [upTo])].map(({ offset, id = "" }) => ({ org, offset, id })),
  ),
}));

/** Marks of all look only at their newest item, and not where they end. */
export const marksBeyondTheLog: Product = {
  ...product,
  createInboxWrites(dependencies) {
    const { markAll } = product.createInboxWrites(dependencies);
    return {
      markAll: (marks) =>
        markAll(marks.map((mark) => ({ ...mark, upTo: mark.upTo && { ...mark.upTo, id: undefined } }))),
    };
  },
};

/** The product whose commits of marks find other rows in some tables. */
export function withMarkRows(found: (marks: readonly NewMark[]) => Partial<Record<string, Row[]>>): Product {
  return {
    ...product,
    createInboxWrites: ({ writer }) => ({
      markAll(marks) {
        const other = found(marks);
        const see = (transaction: LogTransaction): LogTransaction => {
          const { rows } = transaction.sql;
          const find = async (...of: Parameters<typeof rows.find>) => other[of[0]] ?? (await rows.find(...of));
          // A row of another shape would only be another bug.
          const seen = overriding(rows, { find: find as typeof rows.find });
          return overriding(transaction, { sql: overriding(transaction.sql, { rows: seen }) });
        };
        const changed = overriding(writer, {
          transaction: (orgs, work, turn) =>
            writer.transaction(orgs, (transaction) => work(see(transaction), undefined), turn),
        });
        return product.createInboxWrites({ writer: changed }).markAll(marks);
      },
    }),
  };
}

/** The product whose recovery reads something else of inboxes. */
export function withKeptReads(change: (reads: KeptReads) => Partial<KeptReads>): Product {
  return {
    ...product,
    createRecovery: (options) =>
      product.createRecovery({ ...options, inboxes: { ...options.inboxes, ...change(options.inboxes) } }),
  };
}

/** The product whose inboxes read something else. */
export function withInboxReads(
  change: (reads: InboxDependencies["inboxes"]) => Partial<InboxDependencies["inboxes"]>,
): Product {
  return {
    ...product,
    createInboxes: (dependencies) =>
      product.createInboxes({ ...dependencies, inboxes: { ...dependencies.inboxes, ...change(dependencies.inboxes) } }),
  };
}
