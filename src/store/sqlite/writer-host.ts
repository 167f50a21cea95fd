import type { LogEvent } from "../../contract/log/log-event.ts";
import type { DatabaseEvents } from "../store.ts";
import { createCalls } from "./calls.ts";
import type { Call, Opened, Report } from "./protocol.ts";
import { startWriterThread, type Writer, type WriterEvents } from "./writer-thread.ts";

/** A process's channel to the one that has the writing thread. */
export type WriterLink = {
  post(call: Call): void;
  /** Calls `hear` with each report, those before this call included, and `onGone` once the other process is gone. */
  follow(hear: (report: Report) => void, onGone: () => void): void;
};

/** Writes to the embedded database for several processes. */
export type WriterHost = {
  /** Adds a process, which gets its reports through `send`. `hear` takes its calls; `end` forgets it. */
  connect(send: (report: Report) => void): { hear(call: Call): void; end(): void };
  /** The schema versions before and after. */
  migrated: { from: number; to: number };
  close(): Promise<void>;
};

/** Opens the embedded database for several processes, which write through one thread of this one. Rejects like `startWriterThread`. */
export async function openWriterHost(
  file: string,
  { onCrash, onMigration }: Omit<DatabaseEvents, "announce">,
): Promise<WriterHost> {
  const connected = new Set<(report: Report) => void>();

  /** Any process may announce to all. */
  function onCommitted(events: LogEvent[]): void {
    const [first] = connected;
    first?.({ kind: "committed", events });
  }

  const writer = await startWriterThread({ file, isShared: true }, { onCommitted, onCrash, onMigration });
  const { from, to, methods } = writer.opened;
  return {
    migrated: { from, to },
    connect(send) {
      connected.add(send);
      send({ kind: "opened", from: to, to, methods });
      return {
        hear({ id, ...request }) {
          void writer.call(request).then((answer) => {
            if (connected.has(send)) send({ ...answer, kind: "answer", id });
          });
        },
        end: () => void connected.delete(send),
      };
    },
    close: writer.close,
  };
}

/** Connects to the process that has the writing thread. */
export async function connectWriter(
  link: WriterLink,
  { onCommitted, onCrash }: Pick<WriterEvents, "onCommitted" | "onCrash">,
): Promise<Writer> {
  const calls = createCalls(link.post);
  const opening = Promise.withResolvers<Opened>();
  let isClosed = false;
  link.follow(
    (report) => {
      if (report.kind === "opened") opening.resolve(report);
      else if (report.kind === "committed") onCommitted(report.events);
      else if (report.kind === "answer") calls.hear(report.id, report);
    },
    () => {
      const error = new Error("the process that writes to the database is gone");
      calls.end();
      opening.reject(error);
      if (!isClosed) onCrash(error);
    },
  );
  const opened = await opening.promise;
  return {
    opened,
    call: calls.call,
    async close() {
      isClosed = true;
    },
  };
}
