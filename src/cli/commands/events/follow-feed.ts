import type { FeedOptions } from "../../../../sdk/admin.ts";
import { nameCause } from "../../errors/connection-failures.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { onInterrupt } from "../../signals.ts";

/** What a command follows, in words, and whether the feed goes on where it was after an interruption. */
type Followed = { what: string; isResumable: boolean };

/**
 * Follows a feed until it ends or the user interrupts it, and says what becomes of it on stderr. `follow` opens the feed with these
 * options, takes its events, and returns its last cursor.
 */
export async function followFeed(
  { what, isResumable }: Followed,
  output: Output,
  follow: (options: Pick<FeedOptions, "signal" | "onStateChange">) => Promise<string | undefined>,
): Promise<void> {
  const interrupted = new AbortController();
  const endInterrupts = onInterrupt(() => interrupted.abort());
  const dim = (text: string) => output.note(output.noteStyle.dim(printableLine(text)));
  let hasConnected = false;

  const onStateChange: FeedOptions["onStateChange"] = (state, { error, retryInMs = 0 }) => {
    if (state === "reconnecting") {
      const why = error === undefined ? "" : `: ${nameCause(error.cause, error.detail)}`;
      dim(`the feed was interrupted${why}; retrying in ${(retryInMs / 1000).toFixed(1)} s`);
    } else if (hasConnected) {
      dim(
        isResumable
          ? "watching again, from where it was"
          : "watching again; events delivered in the meantime are not shown, but the history contains the messages",
      );
    } else {
      hasConnected = true;
      dim(`watching ${what}`);
    }
  };

  try {
    const cursor = await follow({ signal: interrupted.signal, onStateChange });
    if (isResumable && cursor !== undefined) dim(`to go on from here, give --after ${cursor}`);
  } finally {
    endInterrupts();
  }
}
