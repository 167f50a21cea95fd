import { HeraldError } from "../../contract/errors/errors.ts";
import type { Turnstile } from "../../lib/event-loop/turnstile.ts";
import type { Owner } from "../../lib/owner.ts";

/** Passes a turnstile. Rejects if the client has hung up by then, and its owner has closed. */
export async function passUnlessGone(turnstile: Turnstile, name: string, owner: Owner): Promise<void> {
  await turnstile.pass(name, { owner });
  if (owner.isClosed) throw new HeraldError("bad_request", "the client has disconnected");
}
