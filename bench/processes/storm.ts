// Clients that connect at once, in a process of its own, as one process has few file descriptors. The parent
// orders `sign` (the tokens), `open` (sockets that say nothing), `connect` (all at once), `tell`; all but `connect` are
// answered.
import { type Person, tokenOf } from "../harness/clients/idle-clients.ts";
import {
  createReturningClients,
  type ReturningClients,
  type StormReport,
} from "../harness/clients/returning-clients.ts";

/** What the parent orders. */
export type StormOrder =
  | { want: "sign"; url: string; people: readonly Person[] }
  | { want: "open" }
  | { want: "connect" }
  | { want: "tell" };

/** `ready` once an order is done, or the current state. */
export type StormAnswer = "ready" | StormReport;

let clients: ReturningClients | undefined;

async function obey(order: StormOrder): Promise<StormAnswer | undefined> {
  if (order.want === "sign") {
    const tokens: string[] = [];
    for (const { org, uid } of order.people) tokens.push(await tokenOf(org, uid));
    clients = createReturningClients(order.url, tokens);
    return "ready";
  }
  if (clients === undefined) throw new Error("there are no clients yet");
  if (order.want === "tell") return clients.report();
  if (order.want === "connect") {
    clients.connect();
    return undefined;
  }
  await clients.open();
  return "ready";
}

process.on("message", (order: StormOrder) => {
  obey(order).then(
    (answer) => answer !== undefined && process.send?.(answer),
    (error: unknown) => {
      throw error;
    },
  );
});
