import { createTurnstile } from "../../lib/event-loop/turnstile.ts";
import type { Crowds } from "./crowds.ts";

/** What the organizations of a node share when they play events: the thread that writes to all connections. */
export type Stage = { of(org: string): StagePlace };

/** An organization's place on a stage. */
export type StagePlace = {
  /** After this many deliveries, the organization's turn ends. */
  deliveriesPerTurn(): number;
  /** Writes what waits for parts of large crowds. Returns what the organization waits for before its next turn, if it has to. */
  leave(deliveries: number): Promise<void> | undefined;
};

// To write to a socket takes some 5 µs, and each further delivery to it in the same turn 0.5 µs. So turns of fewer deliveries would
// play much less in all. Large crowds hear a turn of 5 to 10 ms in parts of 2 ms.
const maxDeliveries = 4_000;
/** Turns of fewer deliveries are short, and never wait. */
const fewDeliveries = 500;
const paidOff = { deliveries: 500, inMs: 5 };

type Dependencies = { isShared(): boolean; crowds: Pick<Crowds, "next" | "settle"> };

/**
 * Creates the stage of a node. While several organizations are active, those that play to many connections take turns, and play
 * 100,000 deliveries a second together, so that the thread is free for everybody else most of the time. An organization
 * alone plays as fast as it can.
 */
export function createStage({ isShared, crowds }: Dependencies): Stage {
  const exit = createTurnstile(paidOff.deliveries, { turnMs: paidOff.inMs });

  /** Pays for each part of a crowd before it is written to, and then for the rest of the turn. */
  async function payOff(org: string, deliveries: number): Promise<void> {
    let left = deliveries;
    for (let part = crowds.next(org); part !== undefined; part = crowds.next(org)) {
      await exit.pass(org, { weight: part.deliveries });
      left -= part.write();
    }
    if (left > 0) await exit.pass(org, { weight: left });
  }

  return {
    of: (org) => ({
      deliveriesPerTurn: () => (isShared() ? maxDeliveries : Number.POSITIVE_INFINITY),
      leave(deliveries) {
        if (deliveries >= fewDeliveries && isShared()) return payOff(org, deliveries);
        crowds.settle(org);
        return undefined;
      },
    }),
  };
}
