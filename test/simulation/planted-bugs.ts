import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Product } from "./node.ts";
import type { Variant } from "./world.ts";

const root = resolve(import.meta.dir, "../..");

/** A line of the product as it is, and as it is when the bug is in. */
type Change = { file: string; from: string; to: string };

/** A bug that the simulation must find: in the product's own code, or in what is around it. */
export type PlantedBug = { name: string; changes?: Change[] } & Omit<Variant, "product">;

const sequencer = "gateway/sequencer.ts";
const sequencers = "gateway/sequencers.ts";
const joining = "gateway/join.ts";

/** Where a sequencer, a join, a writer or a node can go wrong. */
export const plantedBugs: PlantedBug[] = [
  { name: "events are announced before a commit that may abort or come late", writing: "announces early" },
  { name: "offsets are taken without a lock", writing: "takes offsets without a lock" },
  {
    name: "the head check is skipped",
    changes: [{ file: "gateway/gateway.ts", from: "const headCheckMs = 5000;", to: "const headCheckMs = 2 ** 30;" }],
  },
  { name: "heads are not looked at when the bus is there again", checksHeadsOnConnect: false },
  {
    name: "a hole is passed over",
    changes: [{ file: sequencer, from: "event.offset === last + 1 &&", to: "event.offset > last &&" }],
  },
  {
    name: "the head is taken for what was played",
    changes: [
      {
        file: sequencer,
        from: "target = Math.max(target, head);",
        to: "target = last = position = Math.max(last, head);",
      },
    ],
  },
  {
    name: "a hint is played again when it comes again",
    changes: [
      { file: sequencer, from: "if (isStopped || event.offset <= last) return;", to: "if (isStopped) return;" },
      { file: sequencer, from: "event.offset === last + 1 &&", to: "event.offset <= last + 1 &&" },
    ],
  },
  {
    name: "what a hint brought meanwhile is played again when it is read",
    changes: [{ file: sequencer, from: "if (event.offset > last) append(event);", to: "append(event);" }],
  },
  {
    name: "a hint that came too early is dropped and forgotten",
    changes: [
      {
        file: sequencer,
        from: "target = Math.max(target, event.offset);",
        to: "if (event.offset > last + 1) return;",
      },
    ],
  },
  {
    name: "a hint without its event is ignored",
    changes: [
      {
        file: sequencers,
        from: "if (hint.payload === undefined) sequencer.noticeHead(hint.offset);",
        to: "if (hint.payload === undefined) return;",
      },
    ],
  },
  {
    name: "a read that failed is not tried again",
    changes: [{ file: sequencer, from: "if (isRetry) repairAfter(retryDelayMs);", to: "if (isRetry) return;" }],
  },
  {
    name: "who joins does not wait for the node to be as far as the snapshot",
    changes: [{ file: joining, from: "await sequencer.reached(head);", to: "" }],
  },
  {
    name: "who joins is not given what was played meanwhile",
    changes: [{ file: joining, from: "apply(connection, cids, played, ledger);", to: "" }],
  },
  {
    name: "who joins does not follow removals",
    changes: [{ file: joining, from: "if (change.removed.includes(connection.uid)) cids.delete(cid);", to: "" }],
  },
  {
    name: "who joins is subscribed before it is given what was played",
    changes: [
      {
        file: joining,
        from: "if (resumeAfter !== undefined) await replay(",
        to: "for (const cid of session.cids) audiences.join(connection, cid);\n if (resumeAfter !== undefined) await replay(",
      },
    ],
  },
  {
    name: "a replay begins with what was seen",
    changes: [{ file: "services/catch-up.ts", from: ": seen.offset;", to: ": seen.offset - 1;" }],
  },
  {
    name: "a replay ends after its first page",
    changes: [{ file: joining, from: "after = end;", to: "return;" }],
  },
  {
    name: "the ring does not know how far back it reaches",
    changes: [{ file: "gateway/ring.ts", from: "if (offset < before) return undefined;", to: "" }],
  },
  {
    name: "what was played is not kept for those who join",
    changes: [{ file: sequencer, from: "ring.push(event);", to: "" }],
  },
  {
    name: "who was removed goes on hearing",
    changes: [{ file: "gateway/audiences.ts", from: "connection.unsubscribe(topic)", to: "topic.length" }],
  },
  {
    name: "who was removed goes on being counted",
    changes: [{ file: "gateway/audiences.ts", from: "heardBy.get(connection)?.delete(audience)", to: "false" }],
  },
  {
    name: "who is gone goes on being counted",
    changes: [{ file: joining, from: "audiences.leaveAll(connection)", to: "undefined" }],
  },
  {
    name: "a sign-out closes nobody",
    changes: [
      { file: "gateway/player.ts", from: 'if (endsSession(end, connection)) connection.end("removed");', to: "break;" },
    ],
  },
  {
    name: "the sequencer is given back while a connection still needs it",
    changes: [{ file: joining, from: "owner.hold(() => sequencers.release(org));", to: "sequencers.release(org);" }],
  },
  {
    name: "a connection that closes while it connects keeps what is taken for it after that",
    changes: [
      { file: "lib/owner.ts", from: "if (isClosed) {", to: "if (isClosed) return () => undefined;\n if (isClosed) {" },
    ],
  },
  {
    name: "the sequencer of a connection that is gone is kept",
    changes: [{ file: joining, from: "owner.hold(() => sequencers.release(org));", to: "" }],
  },
  {
    name: "the place of a user who is gone is kept",
    changes: [{ file: "gateway/places.ts", from: "owner.hold(() => perUser.release(user));", to: "" }],
  },
  {
    name: "the heartbeat of a connection that is gone goes on",
    changes: [{ file: "gateway/heartbeat.ts", from: "owner.hold(() => cancel());", to: "" }],
  },
  {
    name: "a burst is played at once",
    changes: [{ file: sequencer, from: "if (turnBytes > 0 && turnBytes + bytes > bytesPerTurn) break;", to: "" }],
  },
  {
    name: "a request whose connection fails later is answered twice",
    changes: [{ file: "gateway/socket-sessions.ts", from: "if (isAnswered) throw thrown;", to: "" }],
  },
];

/** The product as it is, or a copy of it with changes. The copy is gone after `use`. */
export async function withProduct<Result>(
  changes: Change[],
  use: (product: Product) => Result | Promise<Result>,
): Promise<Result> {
  if (changes.length === 0) return await use(await load(join(root, "src")));
  const folder = await mkdtemp(join(tmpdir(), "herald-planted-bug-"));
  try {
    await cp(join(root, "src"), join(folder, "src"), { recursive: true });
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    for (const { file, from, to } of changes) {
      const path = join(folder, "src", file);
      const text = await Bun.file(path).text();
      if (text.split(from).length !== 2) throw new Error(`src/${file} does not hold this once: ${from}`);
      await Bun.write(
        path,
        text.replace(from, () => to),
      );
    }
    return await use(await load(join(folder, "src")));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function load(source: string): Promise<Product> {
  const { createGateway }: Pick<Product, "createGateway"> = await import(join(source, "gateway/gateway.ts"));
  const { createCatchUp }: Pick<Product, "createCatchUp"> = await import(join(source, "services/catch-up.ts"));
  const { createSessions }: Pick<Product, "createSessions"> = await import(join(source, "services/sessions.ts"));
  return { createGateway, createCatchUp, createSessions };
}
