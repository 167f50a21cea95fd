import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Product } from "./product.ts";
import type { Variant } from "./world.ts";

const root = resolve(import.meta.dir, "../..");

/** A line of the product as it is, and as it is when the bug is in. */
type Change = { file: string; from: string; to: string };

/** A bug that the simulation must find: in the product's own code, or in what is around it. */
export type PlantedBug = { name: string; changes?: Change[] } & Omit<Variant, "product">;

const sequencer = "gateway/sequencer.ts";
const sequencers = "gateway/sequencers.ts";
const joining = "gateway/join.ts";
const silentBus = { loss: 1, doubles: 0, lateMs: 0, outages: 0, severances: 0 };
const slowStore = { latencyMs: 300, outages: 0, misses: 0 };
const follows = "const follows = isNext && prev !== undefined && prev === last.id;";

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
    changes: [{ file: sequencer, from: follows, to: "const follows = true;" }],
  },
  {
    name: "the head is taken for what was played",
    changes: [
      {
        file: sequencer,
        from: "tell(head.offset);",
        to: "tell(head.offset);\n passOver(head);",
      },
    ],
  },
  {
    name: "a hint is played again when it comes again",
    changes: [
      { file: sequencer, from: "if (offset <= last.offset) {", to: "if (offset < last.offset) {" },
      { file: sequencer, from: follows, to: "const follows = offset <= last.offset + 1;" },
    ],
  },
  {
    name: "what a hint brought meanwhile is played again when it is read",
    changes: [
      {
        file: sequencer,
        from: "if (event.offset > last.offset) {",
        to: "if (event.offset > 0) {",
      },
    ],
  },
  {
    name: "a hint that came too early is dropped and forgotten",
    changes: [
      {
        file: sequencer,
        from: "tell(offset);\n      const isNext",
        to: "if (offset > last.offset + 1) return;\n      const isNext",
      },
    ],
  },
  {
    name: "a hint without its event is ignored",
    changes: [
      {
        file: sequencer,
        from: "const { offset, id, prev } = hint;",
        to: "const { offset, id, prev } = hint;\n if (hint.payload === undefined) return;",
      },
    ],
  },
  {
    name: "a read that failed is not tried again",
    changes: [{ file: sequencer, from: "repairAfter(retryDelayMs);", to: "" }],
  },
  {
    name: "who joins does not wait for the node to be as far as the snapshot",
    changes: [{ file: joining, from: "await sequencer.reached(head, headId);", to: "" }],
  },
  {
    name: "who joins is not given what was played meanwhile",
    changes: [{ file: joining, from: "apply(connection, cids, played);", to: "" }],
  },
  {
    name: "who joins does not follow removals",
    changes: [{ file: "gateway/event-facts.ts", from: "if (removed.has(uid)) cids.delete(cid);", to: "" }],
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
    changes: [{ file: "gateway/ring.ts", from: "if (offset < before.offset) return undefined;", to: "" }],
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
    changes: [
      { file: joining, from: "owner.hold(() => sequencers.release(sequencer));", to: "sequencers.release(sequencer);" },
    ],
  },
  {
    name: "a connection that closes while it connects keeps what is taken for it after that",
    changes: [
      { file: "lib/owner.ts", from: "if (isClosed) {", to: "if (isClosed) return () => undefined;\n if (isClosed) {" },
    ],
  },
  {
    name: "the sequencer of a connection that is gone is kept",
    changes: [{ file: joining, from: "owner.hold(() => sequencers.release(sequencer));", to: "" }],
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
    changes: [{ file: "gateway/pace.ts", from: "turnBytes + bytes <= bytesPerTurn && ", to: "" }],
    climate: { large: 0.4, largeBytes: 500_000, writes: 200, losesNoHint: false, bus: silentBus },
  },
  {
    name: "a hint at a place that was played is dropped on its number alone",
    changes: [{ file: sequencer, from: "if (id === undefined || idAt(offset) !== id) doubtHint();", to: "" }],
  },
  {
    name: "a hint is played on its number alone",
    changes: [{ file: sequencer, from: follows, to: "const follows = isNext;" }],
  },
  {
    name: "what was held back is played on its number alone",
    changes: [
      {
        file: "gateway/held.ts",
        from: "return event?.prev !== undefined && event.prev === id ? event : undefined;",
        to: "return id === undefined ? undefined : event;",
      },
    ],
  },
  {
    name: "the head check does not compare ids",
    changes: [{ file: sequencer, from: "head.id !== last.id", to: "false" }],
    climate: { losesNoHint: false, failovers: 1, restarts: 0, bus: silentBus },
  },
  {
    name: "the head check does not look back",
    changes: [{ file: sequencer, from: "head.offset < last.offset ||", to: "" }],
  },
  {
    name: "a read does not look at what stands where it begins",
    changes: [{ file: sequencer, from: "if (!isSameLog(from, page)) return breakOff(from, page);", to: "" }],
  },
  {
    name: "what a hint brought while it was read is not compared with the page",
    changes: [{ file: sequencer, from: "} else if (contradicts(event)) {", to: "} else if (event.offset < 0) {" }],
  },
  {
    name: "rings and positions are kept after the past changed",
    changes: [{ file: sequencers, from: "remove(org, entry);\n          onBreak", to: "onBreak" }],
  },
  {
    name: "connections stay open after the past changed",
    changes: [
      { file: "gateway/gateway.ts", from: 'guard(() => connection.end("restarting"));', to: "connection.isOpen;" },
    ],
  },
  {
    name: "who joins is let in whatever log the session stood in",
    changes: [
      {
        file: sequencer,
        from: "if (id !== undefined && idAt(offset) !== id) {",
        to: "return;\n if (id !== undefined && idAt(offset) !== id) {",
      },
    ],
  },
  {
    name: "who joins is given what was played beyond the session, though that is gone",
    changes: [{ file: sequencer, from: "} else if (position > offset) {", to: "} else if (offset < 0) {" }],
    climate: { failovers: 1, failoverMs: 0, nodes: 3, store: slowStore },
  },
  {
    name: "a replay is of two logs",
    changes: [{ file: joining, from: "await sequencer.verified(); // so that", to: "// so that" }],
    climate: { failovers: 1, failoverMs: 0, restarts: 0, maxRecovered: 1_000, writes: 300, store: slowStore },
  },
  {
    name: "who cannot be written down in the ledger is not let in",
    changes: [
      {
        file: "gateway/accounting.ts",
        from: "given: (uid, events) => guard(() => ledger.given(uid, events)),",
        to: "given: ledger.given,",
      },
    ],
  },
  {
    name: "what fails after an event was played has it played again",
    changes: [
      {
        file: "gateway/accounting.ts",
        from: "guard(() => ledger.played(event, audience))",
        to: "ledger.played(event, audience)",
      },
      {
        file: "gateway/gateway.ts",
        from: "guard(() => {\n      isSlow = play(event);\n    });",
        to: "isSlow = play(event);",
      },
      { file: sequencer, from: "position = event.offset; // before", to: "// before" },
      {
        file: sequencer,
        from: "return play(event);",
        to: "const played = play(event);\n position = event.offset;\n return played;",
      },
      {
        file: sequencer,
        from: "pace.note(bytes, playNow(event));",
        to: "pace.note(bytes, playNow(event));\n if (position !== event.offset) break;",
      },
    ],
  },
  {
    name: "the signature of a hint is not checked",
    changes: [
      { file: "bus/signatures.ts", from: "if (timingSafeEqual(given, ", to: "if (timingSafeEqual(given, given) || (" },
    ],
  },
  {
    name: "what an unsigned hint says is believed",
    changes: [
      {
        file: "bus/signed-texts.ts",
        from: 'if (verdict === "unsigned" && unsigning().size > 0) return { org };',
        to: 'if (verdict === "unsigned" && unsigning().size > 0) return decodeHint(text, org);',
      },
    ],
  },
  {
    name: "a nudge is ignored, and an event that a node of the version before wrote comes late",
    changes: [
      {
        file: sequencer,
        from: "if (hint.offset === undefined) return doubtHint();",
        to: "if (hint.offset === undefined) return;",
      },
    ],
    climate: { losesNoHint: true },
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
  const { createSigner }: Pick<Product, "createSigner"> = await import(join(source, "bus/signatures.ts"));
  const { createSignedTexts }: Pick<Product, "createSignedTexts"> = await import(join(source, "bus/signed-texts.ts"));
  return { createGateway, createCatchUp, createSessions, createSigner, createSignedTexts };
}
