import { appendPayload, lengthOf, midOfPiece } from "../../../src/contract/messages/append.ts";
import { findPieces } from "../../../src/store/messages/pieces.ts";
import type { NewSend } from "../../../src/store/ports.ts";
import { sqliteDialect } from "../../../src/store/sql/dialect.ts";
import type { Driver, Transaction } from "../../../src/store/sql/driver.ts";
import { createGrowthStore, type Product, product, type StoreParts } from "./node.ts";

type Store = ReturnType<typeof createGrowthStore>;

/** The product's store, with another part. */
function withStore(change: (store: Store, parts: StoreParts) => Partial<Store>): Product {
  return {
    ...product,
    createStore(parts) {
      const store = createGrowthStore(parts);
      return { ...store, ...change(store, parts) };
    },
  };
}

/** The product's store on a driver whose transactions are changed. */
function withTransactions(change: (sql: Transaction) => Partial<Transaction>): Product {
  const on =
    (transaction: Driver["transaction"]): Driver["transaction"] =>
    (work, turn) =>
      transaction((sql) => work({ ...sql, ...change(sql) }), turn);
  return {
    ...product,
    createStore: ({ driver, ...parts }) =>
      createGrowthStore({
        ...parts,
        driver: { ...driver, transaction: on(driver.transaction), aside: on(driver.aside) },
      }),
  };
}

/** The product whose pieces are changed before they are stored. */
function withPieces(change: (send: NewSend, driver: Driver) => Promise<NewSend>): Product {
  return withStore(({ sends }, { driver }) => ({
    sends: {
      ...sends,
      append: async (send) => sends.append(send.piece === undefined ? send : await change(send, driver)),
    },
  }));
}

/** The product that recovers what a user missed in another way. */
const withMissed = (change: (missed: Store["missed"]) => Partial<Store["missed"]>) =>
  withStore(({ missed }) => ({ missed: { ...missed, ...change(missed) } }));

async function lengthOfMessage({ org, piece }: NewSend, driver: Driver): Promise<number | undefined> {
  const find = "SELECT length FROM growth WHERE id = ? AND org = ?";
  const [row] = await driver.allOf<{ length: number }>(org, find, piece?.of ?? "", org);
  return row?.length;
}

/** The same piece at the end of its message, wherever it was meant for. */
async function atEnd(send: NewSend, driver: Driver): Promise<NewSend> {
  const { piece, mid, cid = "", sender } = send;
  const offset = await lengthOfMessage(send, driver);
  if (piece === undefined || mid === undefined || offset === undefined || offset === piece.offset) return send;
  const { of: id, text, isDone: done } = piece;
  const payload = appendPayload({ id, cid, from: sender, offset, text, done, t: 0 });
  return { ...send, mid: midOfPiece(id, offset), payload, piece: { ...piece, offset } };
}

async function atEndIfKnown(send: NewSend, driver: Driver): Promise<NewSend> {
  const find = "SELECT offset FROM event WHERE org = ? AND kind = 'append' AND mid = ? AND fingerprint = ?";
  const [known] = await driver.allOf(send.org, find, send.org, send.mid ?? "", send.fingerprint);
  return known === undefined ? send : await atEnd(send, driver);
}

/** A bug of messages that grow, and what the judge must say about it. */
type PlantedBug = { product: Product; sign: RegExp };

const readPieces = findPieces(sqliteDialect);
const withoutLast = <Item>(items: Item[]) => items.slice(0, -1);

/** Bugs of messages that grow that the simulation must find, by name. */
export const plantedGrowthBugs: Record<string, PlantedBug> = {
  "the place of a piece is not checked": { sign: /is taken, which has/, product: withPieces(atEnd) },
  "a piece that comes again is appended again": {
    sign: /which nobody wrote|is stored again/,
    product: withPieces(atEndIfKnown),
  },
  "the text loses a piece when it is moved into the message": {
    sign: /is listed with|is stored when/,
    product: withTransactions(({ all }) => ({
      all: async (text, ...values) => {
        const found = await all(text, ...values);
        return text === readPieces && values.length === 4 && !String(values[1]).endsWith(";")
          ? withoutLast(found as never[])
          : (found as never[]);
      },
    })),
  },
  "a list shows only what was moved into the message": {
    sign: /is listed with/,
    product: {
      ...product,
      createStore: ({ driver, ...parts }) =>
        createGrowthStore({
          ...parts,
          driver: {
            ...driver,
            allOf: async (org, text, ...values) =>
              text === readPieces ? [] : await driver.allOf(org, text, ...values),
          },
        }),
    },
  },
  "who comes back is not given what earlier messages have grown by": {
    sign: /has a hole/,
    product: withMissed(() => ({ readGrown: async () => [] })),
  },
  "what earlier messages have grown by begins one event later": {
    sign: /has a hole/,
    product: withMissed(({ readGrown }) => ({
      readGrown: (grown, { since, head }) => readGrown(grown, { since: since + 1, head }),
    })),
  },
  "who comes back is given pieces that are played after that, too": {
    sign: /comes though it has|after its last one/,
    product: withMissed(({ readGrown, readMissed }) => ({
      readGrown: (grown, { since }) => readGrown(grown, { since, head: Number.MAX_SAFE_INTEGER }),
      readMissed: (org, uid, after, upTo, limit, maxBytes) =>
        readMissed(org, uid, after, upTo, limit, maxBytes, Number.MAX_SAFE_INTEGER),
    })),
  },
  "a silent message is complete too early": {
    sign: /is complete after a silence/,
    product: {
      ...product,
      createStore: ({ silenceMs, ...parts }) => createGrowthStore({ ...parts, silenceMs: silenceMs / 2 }),
    },
  },
  "a message that its sender leaves stays open": {
    sign: /stays open/,
    product: withStore(({ openMessages }) => ({ openMessages: { ...openMessages, completeSome: async () => 0 } })),
  },
  "a message can grow after its recall": {
    sign: /comes after the end|is gone, and can grow/,
    product: withTransactions(({ run }) => ({
      run: async (text, ...values) => (text.startsWith("DELETE FROM growth WHERE id") ? 0 : await run(text, ...values)),
    })),
  },
  "an edit does not look whether the message is complete": {
    sign: /is edited while it is open/,
    product: withTransactions(({ rows }) => ({
      rows: {
        ...rows,
        async find(table, columns, keys) {
          const found = await rows.find(table, columns, keys);
          return columns.includes("silent") && table === "event"
            ? found.map((row) => ({ ...row, silent: null }) as never)
            : (found as never[]);
        },
      },
    })),
  },
  "the log gives messages with what was appended to them": {
    sign: /comes though it has|after its last one/,
    product: withStore(({ log, history }) => ({
      log: {
        ...log,
        readFrom: async (...of) => {
          const page = await log.readFrom(...of);
          return { ...page, events: await Promise.all(page.events.map((event) => asItIsNow(event, history))) };
        },
      },
    })),
  },
};

async function asItIsNow<Event extends { org: string; offset: number; kind: string; payload: string }>(
  event: Event,
  history: Store["history"],
): Promise<Event> {
  if (event.kind !== "message") return event;
  const [row] = await history.messagesAt(event.org, [event.offset]);
  return row === undefined || row.payload === "" || lengthOf(row.payload) === 0
    ? event
    : { ...event, payload: row.payload };
}
