import { expect } from "bun:test";
import { createResilientClient, type ResilientClient } from "../clients/resilient-client.ts";
import type { Ask } from "../clients/wire.ts";
import { eventually, within } from "../deadline.ts";
import { uniqueId } from "../random.ts";
import type { Organization } from "../servers/organization.ts";

/**
 * Settings that exempt tireless senders with one key from limits, and let clients that were away recover everything.
 */
export const LIFTED = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_LIMIT_RECOVERY_MESSAGES: "100000",
};

const clientsPerUser = 10;

/** Returns one address of a service after another. */
type Addresses = () => string;

/** Cycles through the addresses for ever. */
function inTurn(urls: readonly string[], from: number): Addresses {
  let next = from;
  return () => urls[next++ % urls.length] ?? "";
}

/**
 * Sends as the contract asks of callers: after 503 or no response, again with the same id, to the next address.
 * Resolves with the `server_mid`; rejects if the service refuses.
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

/** A client that always reconnects. */
type Stay = {
  /** The longest time it was away, in milliseconds, and the codes with which its connections ended (1006: none). */
  readonly longestAwayMs: number;
  readonly closeCodes: readonly number[];
  /** Cuts the connection and stops reconnecting. */
  leave(): Promise<void>;
};

/**
 * Connects the client, and reconnects at the next address whenever its connection ends. Resolves once it is first
 * connected.
 */
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

/** Callers and clients that follow the contract while nodes come and go. */
export type Traffic = {
  /** Resolves once 50 more sends are acknowledged. */
  more(): Promise<void>;
  /** The codes with which connections have ended so far (1006: none). */
  closeCodes(): number[];
  /**
   * Stops the traffic, and expects every acknowledged message once, in log order, at every client. Resolves with the
   * figures.
   */
  expectNothingLost(): Promise<{ sends: number; reconnects: number; longestAwayMs: number }>;
};

/**
 * Starts `clients`, ten per user, which reconnect at the next of `urls` whenever their connection ends, and `senders`,
 * which send one message after another, each until it is acknowledged. Resolves once all clients are connected.
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
  sending.catch(() => undefined); // reported by expectNothingLost
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
