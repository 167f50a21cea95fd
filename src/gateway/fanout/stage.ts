import { createTurnstile } from "../../lib/event-loop/turnstile.ts";

/** What the organizations of a node share when they play events: the thread that writes to all connections. */
export type Stage = { of(org: string): StagePlace };

/** An organization's place on a stage. */
export type StagePlace = {
  /** After this many deliveries, the organization's turn ends. */
  deliveriesPerTurn(): number;
  /** Returns what the organization waits for before its next turn, if it has to. */
  leave(deliveries: number): Promise<void> | undefined;
};

// To write to a socket takes some 5 µs, and each further delivery to it in the same turn 0.5 µs. So a turn takes 5 to 10 ms, and
// shorter ones would play much less in all.
const maxDeliveries = 4_000;
/** Turns of fewer deliveries are short, and never wait. */
const fewDeliveries = 500;
const paidOff = { deliveries: 1_000, inMs: 10 };

/**
 * Creates the stage of a node. While several organizations are active, those that play to many connections take turns, and play
 * 100,000 deliveries a second together, so that the thread is free for everybody else most of the time. An organization
 * alone plays as fast as it can.
 */
export function createStage({ isShared }: { isShared(): boolean }): Stage {
  const exit = createTurnstile(paidOff.deliveries, { turnMs: paidOff.inMs });
  return {
    of: (org) => ({
      deliveriesPerTurn: () => (isShared() ? maxDeliveries : Number.POSITIVE_INFINITY),
      leave(deliveries) {
        return deliveries >= fewDeliveries && isShared() ? exit.pass(org, { weight: deliveries }) : undefined;
      },
    }),
  };
}
