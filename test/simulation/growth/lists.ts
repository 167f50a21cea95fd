import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";
import type { GrowthClimate } from "./climate.ts";
import type { Node } from "./node.ts";
import { caller, callOnce, show } from "./sender.ts";
import type { Truth } from "./truth.ts";
import { knownOf, type Message, type View } from "./view.ts";

/** What those who list and change messages share. */
export type World = {
  random: Random;
  climate: GrowthClimate;
  truth: Truth;
  broken: string[];
  now(): number;
  isActive(): boolean;
  pickNode(): Node | undefined;
};

type Place = { org: string; uid: string; cid: string };

const mostPages = 100;

/** Messages and pieces are dated when their calls begin, so long before their commit at most. */
export const callMayTakeMs = 600;

/**
 * Lists a conversation, as its participant or by key, and judges what each page says. `undefined` if the database was away, or a
 * page could not follow as the last message of the one before it is gone.
 */
export async function list(world: World, { org, uid, cid }: Place): Promise<View | undefined> {
  const { random, now, truth, broken } = world;
  const limit = random.pick([5, 100]);
  const view: View = new Map();
  const began = now();
  for (let before: string | undefined, page = 0; page < mostPages; page++) {
    const from = now();
    const query = { limit, ...(before !== undefined && { before }) };
    const ended = await callOnce(world, async ({ history }) =>
      random.next() < 0.5
        ? await history.messagesFor(org, uid, cid, query)
        : (await history.messages(org, cid, { ...query, cursor: undefined })).items,
    );
    if (ended === undefined || "error" in ended) return undefined;
    const messages: Message[] = ended.answer.map((text) => JSON.parse(text));
    for (const message of messages) {
      broken.push(...judgeListed(world, message, from));
      if (view.has(message._id)) broken.push(`${message._id} is listed twice`);
      view.set(message._id, knownOf(message));
    }
    before = messages.at(-1)?._id;
    if (before === undefined) break;
  }
  for (const { id, org: of, cid: within, offset, said } of truth.messages.values())
    if (of === org && within === cid && (said[0]?.at ?? began) < began && isThere(world, id) && !view.has(id))
      broken.push(`${id} at ${offset} is not listed`);
  return view;
}

/** Whether a message is still there, for sure. */
export function isThere({ truth, climate, now }: Pick<World, "truth" | "climate" | "now">, id: string): boolean {
  const told = truth.messages.get(id);
  const [first, last] = [told?.said[0], told?.said.at(-1)];
  if (told === undefined || first === undefined || last === undefined || last.isGone) return false;
  if (told.expiresAt !== undefined && told.expiresAt <= now()) return false;
  return !climate.isPurged || now() - first.at < climate.keptMs - callMayTakeMs;
}

/** A message says what it said at some time during the call, unless it was edited or ended meanwhile. */
function* judgeListed(world: World, message: Message, from: number): Iterable<string> {
  const { _id: id, body, open = false } = message;
  const said = world.truth.saidBetween(id, from, world.now());
  if (said.length === 0) return yield `${id} is listed, and was never sent`;
  const isOver = said.length > 1 && said.some(({ isGone, isEdited }) => isGone || isEdited);
  if (said.every(({ isGone }) => isGone)) yield `${id} is listed, and is gone`;
  if (isOver || !isThere(world, id)) return;
  if (!said.some(({ text }) => text === body))
    yield `${id} is listed with ${show(body)}, and says ${said.map(({ text }) => show(text)).join(" and then ")}`;
  if (!said.some(({ isOpen }) => isOpen === open)) yield `${id} is listed as ${open ? "open" : "complete"}`;
}

/** Lists at any moment. */
export async function runLister(world: World, orgs: string[], uids: string[], cids: string[]): Promise<void> {
  const { random, climate, isActive } = world;
  while (isActive()) {
    await pause(random.integer(1, climate.activeMs / 5));
    await list(world, { org: random.pick(orgs), uid: random.pick(uids), cid: random.pick(cids) });
  }
}

/** Edits and takes back messages, whether or not they are complete. */
export async function runChanger(world: World, uids: string[]): Promise<void> {
  const { random, climate, isActive, truth } = world;
  for (let edits = 1; isActive(); edits++) {
    await pause(random.integer(1, climate.activeMs / 5));
    const told = [...truth.messages.values()].slice(-4);
    if (told.length === 0) continue;
    const { id, org, cid, sender } = random.pick(told);
    if (random.next() < 0.6) await edit(world, { org, id, sender, body: `edit ${edits}` });
    else {
      const messageDelete = { cid, ids: [id], type: "all" as const };
      const request = { organizationId: org, senderId: random.pick(uids), messageDelete };
      await callOnce(world, ({ changes }) => changes.recall(caller, request));
    }
  }
}

type Edit = Record<"org" | "id" | "sender" | "body", string>;

async function edit(world: World, { org, id, sender, body }: Edit): Promise<void> {
  const { truth, broken, now } = world;
  const from = now();
  const request = { organizationId: org, senderId: sender, messageEdit: { id, body, x: undefined } };
  const ended = await callOnce(world, ({ changes }) => changes.edit(caller, request));
  if (ended === undefined) return;
  const said = truth.saidBetween(id, from, now());
  if ("answer" in ended && !said.some(({ text }) => text === body))
    broken.push(`the edit of ${id} is answered, and it says ${said.map(({ text }) => show(text)).join(" and then ")}`);
  if ("error" in ended && ended.error.code === "message_open" && !said.some(({ isOpen }) => isOpen))
    broken.push(`the edit of ${id} is refused, and it is complete`);
}

/** Erases a user with all that the user has sent, until that is done. */
export async function eraseUser(world: World, org: string, uid: string): Promise<void> {
  const { random, climate } = world;
  await pause(random.integer(1, climate.activeMs));
  const call = { pay: async () => undefined, permit: async () => undefined };
  while (
    (await callOnce(world, ({ erasures }) => erasures.erase({ org, uid, keyId: caller.keyId }, call))) === undefined
  )
    await pause(random.integer(1, 200));
}
