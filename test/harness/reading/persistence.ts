import { expect } from "bun:test";
import { createResilientClient, type ResilientClient } from "../clients/resilient-client.ts";
import type { Ask } from "../clients/wire.ts";
import { eventually, within } from "../deadline.ts";
import { uniqueId } from "../random.ts";
import type { Organization } from "../servers/organization.ts";

/**
 * Settings under which senders that never pause and share one key meet no limit, and clients that were away get all of what was
 * sent meanwhile.
 */
export const LIFTED = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_LIMIT_RECOVERY_MESSAGES: "100000",
};

const clientsPerUser = 10;

/** Gives one address of a service after another. */
type Addresses = () => string;

/** The addresses in turn, for ever. */
function inTurn(urls: readonly string[], from: number): Addresses {
  let next = from;
  return () => urls[next++ % urls.length] ?? "";
}

/**
 * Sends as the contract wants callers to: after 503 and after no answer again, with the same id, at the next address.
 * Resolves with the `server_mid`; rejects when the service refuses.
 */
async function sendPersistently(org: Organization, cid: string, sender: string, address: Addresses): Promise<string> {
  const message = { id: uniqueId("persistent"), cid, body: "x" };
  const body = JSON.stringify({ organizationId: org.id, senderId: sender, message });
  const headers = { "Admin-Api-Key": org.herald.key, "Content-Type": "application/json" };
  for (;;) {
    const answer = await fetch(`${address()}/admin/message`, { method: "POST", headers, body }).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    if (answer?.status === 201 && text !== undefined) return (JSON.parse(text) as Ask).ask.server_mid;
    if (answer !== undefined && answer.status !== 503) throw new Error(`refused with ${answer.status}: ${text}`);
    await Bun.sleep(10);
  }
}

/** A client that is always on its way back. */
type Stay = {
  /** How long it was away at most, in milliseconds, and with which codes its connections ended (1006: without one). */
  readonly longestAwayMs: number;
  readonly closeCodes: readonly number[];
  /** Cuts the connection and ends the attempts. */
  leave(): Promise<void>;
};

/** Connects the client, and again at the next address whenever its connection ends. Resolves when it is there for the first time. */
async function keepConnected(client: ResilientClient, address: Addresses): Promise<Stay> {
  let isLeaving = false;
  let longestAwayMs = 0;
  const closeCodes: number[] = [];

  async function comeBack(): Promise<void> {
    while (!isLeaving) {
      try {
        return await client.connect(address());
      } catch {
        await Bun.sleep(10);
      }
    }
  }

  await client.connect(address());
  const staying = (async () => {
    while (!isLeaving) {
      const { closeCode } = await client.ended();
      if (isLeaving) return;
      closeCodes.push(closeCode ?? 1006);
      const leftAt = performance.now();
      await comeBack();
      longestAwayMs = Math.max(longestAwayMs, performance.now() - leftAt);
    }
  })();
  return {
    get longestAwayMs() {
      return longestAwayMs;
    },
    closeCodes,
    async leave() {
      isLeaving = true;
      client.cut();
      await staying;
    },
  };
}

/** Callers and clients that do what the contract wants of them, while nodes come and go. */
export type Traffic = {
  /** Resolves when 50 more sends were acknowledged. */
  more(): Promise<void>;
  /** With which codes connections ended so far (1006: without one). */
  closeCodes(): number[];
  /** Stops it, and expects every acknowledged message once, in the order of the log, at every client. Resolves with the figures. */
  expectNothingLost(): Promise<{ sends: number; reconnects: number; longestAwayMs: number }>;
};

/**
 * `clients`, ten of them to a user, that come back at the next of `urls` whenever their connection ends, and `senders` that send one message after
 * another, each until it is acknowledged. Resolves when all clients are there.
 */
export async function startTraffic(
  org: Organization,
  { urls, clients: clientCount, senders }: { urls: readonly string[]; clients: number; senders: number },
): Promise<Traffic> {
  const uidOf = (index: number) => `listener ${Math.floor(index / clientsPerUser)}`;
  const uids = Array.from({ length: clientCount }, (_, index) => uidOf(index));
  const cid = await org.conversation(["sender", ...new Set(uids)]);
  const tokens = new Map<string, string>();
  for (const uid of new Set(uids)) tokens.set(uid, await org.token(uid));
  const clients = uids.map((uid) => createResilientClient(org, uid, tokens.get(uid) ?? ""));
  const stays = await Promise.all(clients.map((client, index) => keepConnected(client, inTurn(urls, index))));
  const acknowledged: string[] = [];
  let isSending = true;
  const sending = Promise.all(
    Array.from({ length: senders }, async (_, index) => {
      const address = inTurn(urls, index);
      while (isSending) acknowledged.push(await sendPersistently(org, cid, "sender", address));
    }),
  );
  sending.catch(() => undefined); // told by expectNothingLost
  const closeCodes = () => stays.flatMap((stay) => stay.closeCodes);
  return {
    async more() {
      const wanted = acknowledged.length + 50;
      await eventually(() => acknowledged.length >= wanted || undefined, "50 more sends");
    },
    closeCodes,
    async expectNothingLost() {
      isSending = false;
      await within(sending, "the last send to be answered");
      const last = (await org.sent("sender", { cid, body: "the last" })).server_mid;
      await within(Promise.all(clients.map((client) => client.waitFor(last))), "the last message at every client");
      const history = (await org.history(cid)).map(({ _id: id }) => id).reverse();
      expect([...history].sort()).toEqual([...acknowledged, last].sort());
      for (const { ledger } of clients) {
        expect({ gaps: ledger.gapsAdmitted, repeats: ledger.repeatsWithinConnection }).toEqual({ gaps: 0, repeats: 0 });
        expect(ledger.seen).toEqual(history);
      }
      for (const stay of stays) await stay.leave();
      return {
        sends: acknowledged.length,
        reconnects: closeCodes().length,
        longestAwayMs: Math.round(Math.max(...stays.map((stay) => stay.longestAwayMs))),
      };
    },
  };
}
