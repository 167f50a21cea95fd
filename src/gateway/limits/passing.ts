import { HeraldError } from "../../contract/errors/errors.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { Owner } from "../../lib/owner.ts";

/** The name under which an address takes turns with organizations, whose ids contain no line feed. */
export const addressName = (address: string) => `\n${address}`;

/** Waits for a turn. Rejects if the client has disconnected by then, and its owner has closed. */
export async function turnUnlessGone(thread: ThreadScheduler, name: string, cost: number, owner: Owner): Promise<void> {
  await thread.turn(name, cost, { owner });
  if (owner.isClosed) throw new HeraldError("bad_request", "the client has disconnected");
}
