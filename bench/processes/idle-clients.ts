// Holds idle connections in a process of its own, so that their file descriptors and pongs do not burden the load
// generator. The parent sends {url, people, kind}; the answer, once all have joined, is their number.
import { openIdleClients, type Person } from "../harness/clients/idle-clients.ts";

/** Whom to hold connections for. */
export type IdleClientsOrder = { url: string; people: readonly Person[]; kind: "socket" | "stream" };

process.on("message", ({ url, people, kind }: IdleClientsOrder) => {
  openIdleClients({ url }, people, kind).then(
    ({ size }) => process.send?.(size),
    (error: unknown) => {
      throw error;
    },
  );
});
