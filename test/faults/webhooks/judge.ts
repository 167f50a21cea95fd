/** One recipient of a message, as the report tells it in the end. Times in milliseconds since the Unix epoch. */
export type Recipient = { uid: string; deliveredAt: number | undefined };

/** A message that was acknowledged with 201. */
export type Sent = { id: string; recipients: Recipient[] };

/** A webhook as the receiver has it, once for each id: what node found out at `at`. */
export type Told = { webhookId: string; messageId: string; at: number; part: number; uids: string[] };

/** The verdict: names of messages and users, and how many were judged. */
export type Verdict = {
  /** Not told of although the report says that they never got it. */
  forgotten: string[];
  /** Told of although they had it for a while. */
  wronged: string[];
  /** Told of in two webhooks. */
  doubled: string[];
  /** Told of messages that nobody sent, or of others than their recipients. */
  unknown: string[];
  unreached: number;
  reached: number;
};

/** How long a node may take to store what it has delivered, in milliseconds. */
const slackMs = 1_000;

/** Compares what receivers were told with what the reports say. */
export function judge(sent: readonly Sent[], told: readonly Told[]): Verdict {
  const verdict: Verdict = { forgotten: [], wronged: [], doubled: [], unknown: [], unreached: 0, reached: 0 };
  const toldOf = new Map<string, Map<string, number>>();
  const known = new Map(sent.map(({ id, recipients }) => [id, new Set(recipients.map(({ uid }) => uid))]));
  for (const { messageId, at, uids } of told) {
    const users = toldOf.get(messageId) ?? new Map<string, number>();
    toldOf.set(messageId, users);
    for (const uid of uids) {
      if (known.get(messageId)?.has(uid) !== true) verdict.unknown.push(`${messageId} ${uid}`);
      if (users.has(uid)) verdict.doubled.push(`${messageId} ${uid}`);
      users.set(uid, at);
    }
  }
  for (const { id, recipients } of sent)
    for (const { uid, deliveredAt } of recipients) {
      const at = toldOf.get(id)?.get(uid);
      verdict[at === undefined ? "reached" : "unreached"]++;
      if (at === undefined && deliveredAt === undefined) verdict.forgotten.push(`${id} ${uid}`);
      if (at !== undefined && deliveredAt !== undefined && deliveredAt + slackMs < at)
        verdict.wronged.push(`${id} ${uid}`);
    }
  return verdict;
}
