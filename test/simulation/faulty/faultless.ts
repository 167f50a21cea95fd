import { hasOtherOwners } from "./connections.ts";
import { withClocks, withExpiry } from "./expiry.ts";
import { withInboxReads, withKeptReads, withMarkRows } from "./inboxes.ts";
import {
  withFanout,
  withJoinsOn,
  withJoinsOnOne,
  withReads,
  withSequencerPart,
  withSequencersThat,
  withTurns,
} from "./parts.ts";

/** Where bugs are planted, but without a bug: the replacement behaves like the part. */
export const faultless = {
  "a part of sequencers": withSequencerPart({}),
  "methods of sequencers": withSequencersThat(() => ({})),
  "the reads of sequencers": withReads((read) => (offset, limit) => read(offset, limit)),
  "the sequencers that those who join see": withJoinsOn(() => ({})),
  "one of the sequencers that those who join see": withJoinsOnOne(() => ({})),
  "the owners of what is taken": hasOtherOwners,
  "the writes to sockets": withFanout(() => ({})),
  "the reads of what is kept": withKeptReads(() => ({})),
  "the reads of inboxes": withInboxReads(() => ({})),
  "what commits of marks find": withMarkRows(() => ({})),
  "the clocks by which events expire": withClocks(() => ({})),
  "the job that ends what has expired": withExpiry((expiry) => expiry),
  "the turns of the thread": withTurns((thread) => thread.turn),
};
