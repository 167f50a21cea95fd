/** A row that a writer's transaction sent. Times in milliseconds of one clock. */
export type WrittenRow = {
  org: string;
  /** Rows of one writer follow one another. */
  writer: string;
  body: string;
  beganAt: number;
  endedAt: number;
  /** What the writer was told; `unknown` if the answer to COMMIT never came. */
  outcome: "committed" | "taken back" | "unknown";
};

type Account = {
  rows: readonly WrittenRow[];
  /** The bodies whose transactions the caller's database kept. */
  kept: ReadonlySet<string>;
  /** The bodies of messages by organization, in the order of the log. */
  messages: ReadonlyMap<string, readonly string[]>;
};

/** Describes what is wrong with the messages of an outbox; empty if all is well. */
export function* judgeOutbox({ rows, kept, messages }: Account): Iterable<string> {
  const counts = new Map<string, number>();
  for (const body of [...messages.values()].flat()) counts.set(body, (counts.get(body) ?? 0) + 1);
  for (const { body, outcome } of rows) {
    const count = counts.get(body) ?? 0;
    counts.delete(body);
    if (count > 1) yield `${body} is there ${count} times`;
    if (outcome === "committed" && !kept.has(body)) yield `${body} was committed, and its database lost it`;
    if (outcome === "taken back" && kept.has(body)) yield `${body} was taken back, and its database kept it`;
    if (count > 0 && !kept.has(body)) yield `${body} (${outcome}) was not kept, and is sent`;
    if (count === 0 && kept.has(body)) yield `${body} (${outcome}) was kept, and is not sent`;
  }
  for (const body of counts.keys()) yield `${body} is sent, and nobody wrote it`;
  const written = new Map(rows.map((row) => [row.body, row]));
  for (const bodies of messages.values())
    yield* judgeOrder(
      bodies.flatMap((body) => written.get(body) ?? []),
      new Map(rows.map(({ body }, index) => [body, index])),
    );
}

/** Rows of a writer are in its order, and what was committed before another row's transaction began is before it. */
function* judgeOrder(sent: readonly WrittenRow[], places: ReadonlyMap<string, number>): Iterable<string> {
  const lastOf = new Map<string, WrittenRow>();
  let latest: WrittenRow | undefined;
  for (const row of sent) {
    const last = lastOf.get(row.writer);
    if (last !== undefined && (places.get(last.body) ?? 0) > (places.get(row.body) ?? 0))
      yield `${row.body} is after ${last.body}`;
    if (latest !== undefined && row.endedAt < latest.beganAt)
      yield `${row.body} had ended when ${latest.body} began, and is after it`;
    lastOf.set(row.writer, row);
    if (latest === undefined || row.beganAt > latest.beganAt) latest = row;
  }
}
