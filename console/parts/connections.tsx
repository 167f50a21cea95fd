import type { UserConnection } from "../../sdk/types.ts";
import { useConsole } from "../state/context.ts";
import { useAction } from "../state/loading.ts";
import { Badge } from "./badge.tsx";
import { Problem } from "./problem.tsx";
import { Time } from "./time.tsx";

type Props = { org: string; uid: string; connections: readonly UserConnection[]; onClosed: () => Promise<void> };

const protocols = { websocket: "WebSocket", sse: "Server-sent events" };

/** Where a user is connected now, with a button that closes a connection. */
export function Connections({ org, uid, connections, onClosed }: Props) {
  const { client, can, announce } = useConsole();
  const close = useAction(async (id: string) => {
    await client.closeConnection(org, uid, id);
    announce("The connection is closed. Its client may reconnect.");
    await onClosed();
  });
  return (
    <section aria-labelledby="connections">
      <h2 id="connections">Connected now</h2>
      <ol class="rows" aria-label="Connections, the oldest first">
        {connections.map((connection) => (
          <li key={connection.connection_id}>
            <article class="entry">
              <div class="entry-head">
                <strong>{connection.device_id ?? protocols[connection.transport]}</strong>
                <span class="fine">
                  since <Time at={connection.since} />
                </span>
                {connection.waiting_bytes > 0 && <Badge tone="bad">{connection.waiting_bytes} bytes wait</Badge>}
                <span class="spacer" />
                {can("directory:write") && (
                  <button
                    type="button"
                    class="small"
                    disabled={close.isBusy}
                    aria-label={`Close the connection ${connection.connection_id}`}
                    onClick={() => close.run(connection.connection_id)}
                  >
                    Close
                  </button>
                )}
              </div>
              <p class="fine">
                {protocols[connection.transport]} from {connection.address}
                {connection.client !== null && ` · ${connection.client}`}
              </p>
              <p class="fine">
                <code>{connection.connection_id}</code> on node <code>{connection.node}</code>
              </p>
            </article>
          </li>
        ))}
      </ol>
      {close.error !== undefined && <Problem error={close.error} />}
    </section>
  );
}
