// A caller who sends a message every so many milliseconds, whether or not earlier ones are answered, so that a stall of
// the server shows in full. The parent sends {url, org, everyMs} once, with `key` unless it is the bench's own, and
// later {tell}, which is answered with the duration of each send begun since the last time, and the number of failures.
import { randomUUID } from "node:crypto";
import { benchOrg } from "../harness/organization.ts";

/** What the parent sends. */
export type VictimOrder = { url: string; org: string; everyMs: number; key?: string } | { tell: true };

/** Milliseconds of each send answered 201, and the number of the others. */
export type VictimReport = { times: number[]; failed: Record<string, number> };

const giveUpMs = 30_000;
let underWay: Promise<void>[] = [];
let report: VictimReport = { times: [], failed: {} };

type Send = { url: string; org: string; key?: string };

async function send({ url, org, key = benchOrg.key }: Send, { times, failed }: VictimReport): Promise<void> {
  const sentAt = performance.now();
  let outcome: string;
  try {
    const response = await fetch(`${url}/admin/message`, {
      method: "POST",
      headers: { "Admin-Api-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify({
        organizationId: org,
        senderId: benchOrg.sender,
        message: { id: randomUUID(), cid: benchOrg.quiet, body: "still here" },
      }),
      signal: AbortSignal.timeout(giveUpMs),
    });
    await response.text();
    outcome = String(response.status);
  } catch (error) {
    outcome = error instanceof Error ? error.name : "unknown";
  }
  if (outcome === "201") times.push(performance.now() - sentAt);
  else failed[outcome] = (failed[outcome] ?? 0) + 1;
}

async function tell(): Promise<void> {
  const [told, sent] = [report, underWay];
  report = { times: [], failed: {} };
  underWay = [];
  await Promise.all(sent);
  process.send?.(told);
}

process.on("disconnect", () => process.exit()); // nobody is left to end it

process.on("message", (order: VictimOrder) => {
  if ("url" in order) {
    setInterval(() => underWay.push(send(order, report)), order.everyMs);
    return;
  }
  tell().catch((error: unknown) => {
    throw error;
  });
});
