import { type HeraldError, invalidRequest } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import { maxReactionsOfMessage } from "../../contract/messages/reactions.ts";
import { bytesOfStep } from "../../lib/queues/steps.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ImportFault, ImportItem, ImportOutcome, ImportPart, ImportWrites } from "../../store/transfer/ports.ts";
import { type Caller, proofOf } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { createDeclared } from "./declared.ts";
import type { ImportProgress, LineFault } from "./import-progress.ts";

/** Gathers the lines of an import into parts, and stores them one after the other. */
export type ImportParts = ReturnType<typeof createImportParts>;

type Options = {
  imports: ImportWrites & { rowsOfPart: number };
  use: Pick<OrganizationUse, "reserveRoom">;
  progress: ImportProgress;
  org: string;
  caller: Caller;
  isDryRun: boolean;
  maxParticipants: number;
  clock: Clock;
};

type Gathered = {
  items: ImportItem[];
  lines: number[];
  faults: LineFault[];
  /** The conversations that its messages are in. */
  conversations: Set<string>;
  rows: number;
  bytes: number;
  last: number;
};

const bytesOfPart = 2 * bytesOfStep; // rows are only added
const partsAtOnce = 2; // one is stored while the next is read

/** Creates the parts of one import. */
export function createImportParts(options: Options) {
  const { imports, use, progress, org, caller, isDryRun, maxParticipants, clock } = options;
  const declared = createDeclared();
  const writing: Promise<void>[] = [];
  let part = newPart(0);
  let keepsIds = true;

  function write(order: ImportPart): Promise<ImportOutcome | undefined> {
    if (!isDryRun) return imports.add(order);
    const also = declared.namedBy(order.items);
    declared.add(order.items);
    return imports.check(order, also);
  }

  /** Stores a part and returns the faults of its lines. */
  async function store({ items, lines, faults, bytes, last }: Gathered): Promise<LineFault[]> {
    if (items.length === 0) return faults;
    const room = use.reserveRoom(org, bytes);
    let isStored = false;
    try {
      const hasRoom = room.error === undefined;
      const now = clock.now();
      const by = proofOf(caller, now);
      const outcome = await write({ org, items, maxParticipants, hasRoom, keyId: caller.keyId, by, now });
      if (outcome === undefined) throw errorAbout("organization_not_found", { organization: org });
      isStored = !isDryRun && outcome.written > 0;
      if (outcome.gaveIds) keepsIds = false;
      const toError = (fault: ImportFault, item: ImportItem | undefined) =>
        fault === "room" && room.error !== undefined ? room.error : errorOf(fault, item, maxParticipants);
      return [
        ...faults,
        ...outcome.faults.map(([index, fault]) => ({
          line: lines[index] ?? last,
          error: toError(fault, items[index]),
        })),
      ];
    } finally {
      room.end(isStored);
    }
  }

  async function begin(): Promise<void> {
    const gathered = part;
    part = newPart(gathered.last);
    if (writing.length >= partsAtOnce) await writing.shift();
    const before = writing.at(-1);
    const storing = store(gathered);
    storing.catch(() => undefined); // seen below, once the part before it is stored
    const told = (async () => {
      await before;
      progress.reach(gathered.last, await storing);
    })();
    told.catch(() => undefined); // rejects where it is awaited
    writing.push(told);
  }

  const isFull = () => part.rows >= imports.rowsOfPart || part.bytes >= bytesOfPart;

  return {
    /** Adds what a line stands for. Waits while enough is being stored; rejects once a part could not be. */
    async add(line: number, items: ImportItem[]): Promise<void> {
      for (const item of items) {
        part.items.push(item);
        part.lines.push(line);
        part.rows += rowsIn(part, item);
        part.bytes += bytesIn(item);
        if (item === items.at(-1)) part.last = line;
        if (isFull()) await begin();
      }
      part.last = line;
    },
    /** Notes that a line cannot be imported. Waits and rejects like `add`. */
    async refuse(line: number, error: HeraldError): Promise<void> {
      part.faults.push({ line, error });
      part.rows++; // so that faults are reported and not kept, even if there is nothing else
      part.last = line;
      if (isFull()) await begin();
    },
    /** Stores what there is, and waits until all is. Rejects if something could not be stored. */
    async flush(): Promise<void> {
      await begin();
      await Promise.all(writing.splice(0));
    },
    /** Waits until nothing is being stored, whatever came of it. */
    async settle(): Promise<void> {
      await Promise.allSettled(writing.splice(0));
    },
    /** Whether something waits to be stored. */
    get isWaiting() {
      return part.items.length + part.faults.length > 0;
    },
    /** Whether messages can keep the ids that they come with: false once another organization was found to have one. */
    get keepsIds() {
      return keepsIds;
    },
  };
}

/** The number of rows that an item may write: a message also changes its conversation, once in a part, and names files. */
function rowsIn({ conversations }: Gathered, item: ImportItem): number {
  if (item.kind === "participants") return 2 * item.uids.length;
  if (item.kind === "system_message") return 1 + Math.max(1, item.recipients.length);
  if (item.kind === "recipients") return item.uids.length;
  if (item.kind !== "message") return 1;
  const rows = 1 + 2 * item.files.length;
  if (conversations.has(item.cid)) return rows;
  conversations.add(item.cid);
  return rows + 1;
}

function bytesIn(item: ImportItem): number {
  if (item.kind === "message") return item.rest.length;
  if (item.kind !== "system_message") return 0;
  return item.uids.reduce((bytes, uid) => bytes + uid.length, item.payload.length);
}

function idIn(item: ImportItem | undefined): string {
  if (item?.kind === "system_message") return item.mid;
  return item?.kind === "message" ? item.importId : "";
}

function newPart(last: number): Gathered {
  return { items: [], lines: [], faults: [], conversations: new Set(), rows: 0, bytes: 0, last };
}

function errorOf(fault: ImportFault, item: ImportItem | undefined, maxParticipants: number): HeraldError {
  const conversation = (item !== undefined && "cid" in item && item.cid) || "";
  if (typeof fault === "object") return errorAbout("user_not_found", fault);
  if (fault === "conversation") return errorAbout("conversation_not_found", { conversation });
  if (fault === "reactions")
    return invalidRequest("", `the message has ${maxReactionsOfMessage} different reactions already`);
  if (fault === "conflict") return errorAbout("message_id_conflict", { id: idIn(item) });
  return invalidRequest("", `a conversation may have at most ${maxParticipants} participants`);
}
