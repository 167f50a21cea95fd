// A part of a crowd that connects at once, in a process of its own, as one process has few file descriptors. The parent
// orders `sign` (the tokens), `open` (sockets that say nothing), `connect` (all at once), `tell`; all but `connect` are
// answered.
import { type Person, tokenOf } from "../harness/crowds/crowd.ts";
import { createStormCrowd, type StormCrowd, type StormReport } from "../harness/crowds/storm-crowd.ts";

/** What the parent orders. */
export type StormOrder =
  | { want: "sign"; url: string; people: readonly Person[] }
  | { want: "open" }
  | { want: "connect" }
  | { want: "tell" };

/** `ready` once an order is done, or the current state. */
export type StormAnswer = "ready" | StormReport;

let crowd: StormCrowd | undefined;

async function obey(order: StormOrder): Promise<StormAnswer | undefined> {
  if (order.want === "sign") {
    const tokens: string[] = [];
    for (const { org, uid } of order.people) tokens.push(await tokenOf(org, uid));
    crowd = createStormCrowd(order.url, tokens);
    return "ready";
  }
  if (crowd === undefined) throw new Error("there is no crowd yet");
  if (order.want === "tell") return crowd.report();
  if (order.want === "connect") {
    crowd.connect();
    return undefined;
  }
  await crowd.open();
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
