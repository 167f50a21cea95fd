import { createCounters } from "../../lib/rates/counters.ts";

/** The queue of one webhook's posts on this node. */
type Lane<Job> = {
  readonly org: string;
  readonly ref: string;
  readonly jobs: Job[];
  inFlight: number;
  /** How many posts may be in flight: grows while the receiver is quick, shrinks while it is slow or failing. */
  allowed: number;
  isQuick: boolean;
};

type Dependencies<Job> = {
  /** Runs a job; resolves with whether the receiver accepted it, and how long it took. Must not reject. */
  run(job: Job): Promise<{ isGood: boolean; durationMs: number }>;
  /** Called when a webhook has room again. */
  onRoom(): void;
};

const atOnce = 256;
const mostAtOnce = 512; // including the one slot that each webhook has even when the shared ones are taken
const ofOrganization = 64;
const ofWebhook = { first: 8, most: 64 };
const aheadOfQuick = 8;
const quickMs = 500;
const slowMs = 3_000;
const mostHeld = 4_000;
const mostIdle = 1_000;
const mostHanging = 1_000; // beside those in flight

/**
 * Creates the lanes of many webhooks, so that a slow receiver cannot block the others. Webhooks take turns, and each organization
 * may use a share of the slots. A slow or failing receiver is soon down to a single slot. A quick one may hang while it has many: so
 * each webhook has a slot of its own besides the shared ones, and a post that takes long frees its shared slot.
 */
export function createLanes<Job>({ run, onRoom }: Dependencies<Job>) {
  const lanes = new Map<string, Lane<Job>>();
  const waiting = new Set<Lane<Job>>(); // in the order of their turns
  const inFlight = createCounters(); // by organization
  let hanging = 0;
  let held = 0;

  const roomIn = ({ allowed, isQuick, jobs, inFlight: started }: Lane<Job>) =>
    allowed * (isQuick ? aheadOfQuick : 1) - jobs.length - started;

  function laneOf(org: string, ref: string): Lane<Job> {
    const known = lanes.get(ref);
    if (known !== undefined) return known;
    const lane: Lane<Job> = { org, ref, jobs: [], inFlight: 0, allowed: ofWebhook.first, isQuick: false };
    lanes.set(ref, lane);
    if (lanes.size > mostIdle)
      for (const [key, { jobs, inFlight: started }] of lanes) {
        if (lanes.size <= mostIdle) break;
        if (jobs.length + started === 0 && key !== ref) lanes.delete(key);
      }
    return lane;
  }

  function adapt(lane: Lane<Job>, { isGood, durationMs }: { isGood: boolean; durationMs: number }): void {
    lane.isQuick = isGood && durationMs < quickMs;
    if (!isGood || durationMs > slowMs) lane.allowed = Math.max(1, Math.floor(lane.allowed / 2));
    else lane.allowed = Math.min(ofWebhook.most, lane.allowed + 1);
  }

  async function start(lane: Lane<Job>, job: Job): Promise<void> {
    let hangs = false;
    inFlight.take(lane.org);
    lane.inFlight++;
    const timer = setTimeout(() => {
      adapt(lane, { isGood: false, durationMs: slowMs });
      if (hanging >= mostHanging) return;
      hangs = true;
      hanging++;
      inFlight.release(lane.org);
      pump();
    }, slowMs);
    adapt(lane, await run(job));
    clearTimeout(timer);
    if (hangs) hanging--;
    else inFlight.release(lane.org);
    lane.inFlight--;
    held--;
    pump();
    if (roomIn(lane) >= lane.allowed / 2) onRoom();
  }

  function pump(): void {
    for (const lane of waiting) {
      if (inFlight.total >= mostAtOnce) return;
      const hasSharedSlot = inFlight.total < atOnce && inFlight.countOf(lane.org) < ofOrganization;
      const mayStart = lane.inFlight < lane.allowed && (hasSharedSlot || lane.inFlight === 0);
      if (!mayStart) continue;
      const job = lane.jobs.shift();
      waiting.delete(lane);
      if (job === undefined) continue;
      if (lane.jobs.length > 0) waiting.add(lane); // this loop visits it again, after the others
      void start(lane, job);
    }
  }

  return {
    /** How many posts wait or are in flight. */
    get held() {
      return held;
    },
    /** How many more jobs of a webhook this node should take. */
    roomOf(ref: string): number {
      const lane = lanes.get(ref);
      const room = lane === undefined ? ofWebhook.first : roomIn(lane);
      const isIdle = lane === undefined || lane.jobs.length + lane.inFlight === 0;
      return Math.max(isIdle ? 1 : 0, Math.min(room, mostHeld - held));
    },
    /** The webhooks without room. */
    busy: () => [...lanes.values()].filter((lane) => roomIn(lane) <= 0).map(({ ref }) => ref),
    /** Queues jobs, and starts as many as there are slots for. */
    add(org: string, ref: string, jobs: readonly Job[]): void {
      if (jobs.length === 0) return;
      const lane = laneOf(org, ref);
      lane.jobs.push(...jobs);
      held += jobs.length;
      waiting.add(lane);
      pump();
    },
    /** Drops the jobs that have not started: those of one webhook, or all. */
    clear(ref?: string): void {
      for (const lane of [...waiting]) {
        if (ref !== undefined && lane.ref !== ref) continue;
        held -= lane.jobs.length;
        lane.jobs.length = 0;
        waiting.delete(lane);
      }
    },
  };
}
