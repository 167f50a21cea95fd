import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";
import type { PresenceClimate } from "./climate.ts";
import type { Node } from "./node.ts";

/** A connection that a user had, in milliseconds. `to` is `Infinity` while it is open. */
export type Stay = { org: string; uid: string; node: Node; from: number; to: number };

/** What all devices share. */
export type Devices = {
  random: Random;
  climate: PresenceClimate;
  now(): number;
  /** A node that accepts connections, if there is one. */
  pickNode(): Node | undefined;
  stays: Stay[];
};

const noticesWithinMs = 2_000;

/** A device of a user, which comes and goes as long as things happen, and then stays, or stays away. */
export async function runDevice(devices: Devices, org: string, uid: string): Promise<void> {
  const { random, climate, now, pickNode, stays } = devices;
  const isActive = () => now() < climate.activeMs;
  const staysInTheEnd = random.next() < 0.6;
  await pause(random.pick([0, random.integer(0, climate.activeMs)]));
  while (isActive() || staysInTheEnd) {
    const node = pickNode();
    if (node === undefined) {
      await pause(50);
      continue;
    }
    const { leave, isOver, wasFrozen } = node.connect(org, uid);
    const stay: Stay = { org, uid, node, from: now(), to: Number.POSITIVE_INFINITY };
    stays.push(stay);
    const misses = wasFrozen.then(() => pause(random.integer(1, noticesWithinMs)));
    const leavesAt = now() + random.integer(1, climate.stayMs);
    const untilLeaving =
      leavesAt < climate.activeMs || !staysInTheEnd
        ? pause(Math.min(leavesAt, climate.activeMs) - now())
        : new Promise<void>(() => undefined);
    await Promise.race([isOver, misses, untilLeaving]);
    stay.to = now();
    leave();
    await pause(random.integer(0, climate.awayMs));
  }
}
