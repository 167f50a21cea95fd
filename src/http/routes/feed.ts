import type { Operations } from "../../contract/operations/all.ts";
import type { Feeds } from "../../services/feeds.ts";
import type { Bind } from "../bind.ts";

/** Binds the live feed of an organization. */
export function bindFeed(bind: Bind, operations: Operations, feeds: Feeds): void {
  bind(operations.streamEvents, async ({ params: { org }, query: filter }, call) => {
    const { address, request, permit, endSoon } = call();
    const stream = await feeds.open({ org, filter, address, signal: request.signal, permit, onEnd: endSoon });
    return { status: 200, stream };
  });
}
