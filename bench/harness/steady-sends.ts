import type { Organization } from "../../test/harness/servers/organization.ts";

/** Sends as alice, at a steady pace, until it is stopped; returns how long the sends took, in milliseconds. */
export function beginSending(org: Organization, cid: string, everyMs: number): { stop(): Promise<number[]> } {
  const took: number[] = [];
  const running: Promise<void>[] = [];
  async function send(): Promise<void> {
    const sentAt = performance.now();
    await org.sent("alice", { cid, body: "meanwhile" });
    took.push(performance.now() - sentAt);
  }
  const timer = setInterval(() => running.push(send()), everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      return took;
    },
  };
}
