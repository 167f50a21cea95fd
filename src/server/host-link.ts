import type { FromBroker, ToBroker } from "../bus/broker.ts";
import { createBrokerTransport } from "../bus/broker-transport.ts";
import type { Transport } from "../bus/transport.ts";
import type { Call, Report } from "../store/sqlite/protocol.ts";
import type { WriterLink } from "../store/sqlite/writer-host.ts";

/** What a worker tells the process that has the embedded database and the broker. */
export type ToHost = { writes: Call } | ToBroker;

/** What that process tells a worker. */
export type FromHost = { writes: Report } | FromBroker;

/** A worker's link to what its parent shares. */
export type HostLink = ReturnType<typeof createHostLink>;

/** Creates a worker's link. `send` sends to the parent, `hear` takes what it tells, and `onGone` says that it is gone. */
export function createHostLink(send: (message: ToHost) => void) {
  const early: Report[] = []; // before anybody follows
  let hearReport = (report: Report): unknown => early.push(report);
  let onWriterGone = () => {};
  let transport: ReturnType<typeof createBrokerTransport> | undefined;
  const writer: WriterLink = {
    post: (call) => send({ writes: call }),
    follow(hear, onGone) {
      onWriterGone = onGone;
      hearReport = hear;
      early.splice(0).forEach(hear);
    },
  };
  return {
    writer,
    /** Opens the transport of the worker's bus, once. */
    openTransport(events: Omit<Parameters<typeof createBrokerTransport>[0], "send">): Transport {
      transport = createBrokerTransport({ ...events, send });
      return transport;
    },
    hear(message: FromHost): void {
      if ("writes" in message) hearReport(message.writes);
      else transport?.hear(message);
    },
    onGone(): void {
      transport?.onGone();
      onWriterGone();
    },
  };
}
