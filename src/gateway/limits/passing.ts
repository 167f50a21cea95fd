import { HeraldError } from "../../contract/errors/errors.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { Owner } from "../../lib/owner.ts";

/** Waits for a turn. Rejects if the client has disconnected by then, and its owner has closed. */
export async function turnUnlessGone(thread: ThreadScheduler, name: string, cost: number, owner: Owner): Promise<void> {
  await thread.turn(name, cost, { owner });
  if (owner.isClosed) throw new HeraldError("bad_request", "the client has disconnected");
}
