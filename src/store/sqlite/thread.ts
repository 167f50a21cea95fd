import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { HeraldError } from "../../contract/errors/errors.ts";
import { readDiskSpace } from "../../lib/disk-space.ts";
import { createLoneBusSecrets, createLoneRegistry } from "../nodes/nodes.ts";
import type { NodeRegistry } from "../ports.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import type { Database, DatabaseEvents, Writes } from "../store.ts";
import { createOwnFiles } from "./own-files.ts";
import { packSends, receiveError, type SentOutcome, unpackOutcomes, type WriteRequest } from "./protocol.ts";
import { openSqliteReaders, type SqliteReaders } from "./readers.ts";
import { connectWriter, type WriterLink } from "./writer-host.ts";
import { startWriterThread, type Writer, type WriterEvents } from "./writer-thread.ts";

// One batch is committed while the next is prepared; measured in docs/decisions/0010.
const overlap = { depth: 2, from: 24 };
const lookEveryMs = 1_000;
const leastFreeBytes = 1_048_576; // a send of the largest body takes more

/**
 * Opens the embedded database with one thread for writing, so that no flush to disk blocks the serving event loop, and
 * two for reading. Rejects with `DatabaseInUseError` if another process has it open.
 */
export async function openSqliteThread(file: string, events: DatabaseEvents): Promise<Database> {
  const { database } = await openWith(file, events, (writerEvents) =>
    startWriterThread({ file, isShared: false }, writerEvents),
  );
  return { ...database, nodes: createLoneRegistry() };
}

/** Opens the embedded database beside other processes, whose writes go to the same thread of their parent. */
export async function openSharedSqlite(file: string, link: WriterLink, events: DatabaseEvents): Promise<Database> {
  const { database, call } = await openWith(file, events, (writerEvents) => connectWriter(link, writerEvents));
  const { reader } = database;
  return {
    ...database,
    reader: { ...reader, dialect: { ...sqliteDialect, isShared: true } },
    nodes: portOf<NodeRegistry>(call, "nodes", ["beat", "list", "remove"]),
  };
}

type MakeCall = <Result>(port: string, method: string, ...args: unknown[]) => Promise<Result>;

async function openWith(
  file: string,
  { announce, onCrash, onMigration }: DatabaseEvents,
  startWriter: (events: WriterEvents) => Promise<Writer>,
): Promise<{ database: Omit<Database, "nodes">; call: MakeCall }> {
  let hasCrashed = false;
  let isClosing = false;
  let readers: SqliteReaders | undefined;

  function crash(error: Error): void {
    if (hasCrashed || isClosing) return;
    hasCrashed = true;
    void readers?.abandon();
    onCrash(error);
  }

  const writer = await startWriter({ onCommitted: announce, onCrash: crash, onMigration });
  const { from, to, methods } = writer.opened;

  async function send(request: WriteRequest): Promise<unknown> {
    const answer = await writer.call(request);
    if ("error" in answer) throw receiveError(answer.error);
    return "outcomes" in answer ? answer.outcomes : answer.value;
  }

  const call: MakeCall = <Result>(port: string, method: string, ...args: unknown[]) =>
    send({ port, method, args }) as Promise<Result>;

  try {
    const reader = await openSqliteReaders({ file, onCrash: crash });
    readers = reader;
    const ownFiles = createOwnFiles(file);
    const look = async () => {
      await ownFiles.check();
      const { freeBytes } = await readDiskSpace(dirname(file));
      if (freeBytes < leastFreeBytes) throw new HeraldError("storage_full");
    };
    const database = {
      reader,
      busSecrets: createLoneBusSecrets(),
      async sizes() {
        const [data, log] = await Promise.all([stat(file), stat(`${file}-wal`)]);
        return { engine: "sqlite" as const, bytes: data.size, logBytes: log.size };
      },
      watch: { look, everyMs: lookEveryMs },
      overlap,
      migrated: { from, to },
      writes: remoteWrites(methods, call, send),
      async close() {
        isClosing = true;
        await reader.close(); // first, as the last connection to close cleans up the write-ahead log
        await writer.close();
        ownFiles.close();
      },
    };
    return { database, call };
  } catch (error) {
    isClosing = true;
    await writer.close();
    throw error;
  }
}

function portOf<Port>(call: MakeCall, port: string, names: readonly string[]): Port {
  return Object.fromEntries(names.map((method) => [method, call.bind(undefined, port, method)])) as Port;
}

/** The writes of the other thread. The protocol defines the types of their results: both ends are this code. */
function remoteWrites(
  methods: Writer["opened"]["methods"],
  call: MakeCall,
  send: (request: WriteRequest) => Promise<unknown>,
): Writes {
  const ports = Object.fromEntries(
    Object.entries(methods).map(([port, names]) => [port, portOf(call, port, names)]),
  ) as Writes;
  return {
    ...ports,
    batches: {
      ...ports.batches,
      appendAll: async (sends) => unpackOutcomes(sends, (await send({ sends: packSends(sends) })) as SentOutcome[]),
    },
    // Each as one text: cloning 100,000 participants takes 50 ms, and cloning the objects of a part five times as long.
    conversations: {
      ...ports.conversations,
      put: (org, cid, put, ...more) => call("conversations", "put", org, cid, JSON.stringify(put), ...more),
    },
    imports: {
      add: (part) => call("imports", "add", JSON.stringify(part)),
      check: (part, also) => call("imports", "check", JSON.stringify(part), also),
    },
  };
}
