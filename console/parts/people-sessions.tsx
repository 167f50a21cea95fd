import { useState } from "preact/hooks";
import type { ConsoleSession } from "../../sdk/types.ts";
import { nameScopes } from "../../src/contract/keys/scopes.ts";
import { useConsole } from "../state/context.ts";
import { useAction, usePages } from "../state/loading.ts";
import { Badge } from "./badge.tsx";
import { Confirm } from "./forms/dialog.tsx";
import { Problem } from "./problem.tsx";
import { Loaded, More } from "./states.tsx";
import { Time } from "./time.tsx";

/** Who is signed in to the console at the OpenID provider, and what ends such a session on every node. */
export function PeopleSessions() {
  const { client } = useConsole();
  const list = usePages((cursor) => client.listSessions({ limit: 100, ...(cursor !== undefined && { cursor }) }), []);
  return (
    <section aria-labelledby="signed-in">
      <h2 id="signed-in">Signed in</h2>
      <Loaded loading={list} what="sessions">
        {(sessions) =>
          sessions.length === 0 ? (
            <p class="fine">Nobody is signed in at the OpenID provider.</p>
          ) : (
            <>
              <ul class="rows" aria-label="Signed in">
                {sessions.map((session) => (
                  <SessionRow key={session.id} session={session} onEnded={list.reload} />
                ))}
              </ul>
              <More {...list} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function SessionRow({ session, onEnded }: { session: ConsoleSession; onEnded: () => void }) {
  const { client, me, announce } = useConsole();
  const [isAsking, setIsAsking] = useState(false);
  const { id, person, scopes, organizations, address, created_at, expires_at } = session;
  const end = useAction(async () => {
    await client.endSession(id);
    announce(`The session of ${person} has ended`);
    setIsAsking(false);
    onEnded();
  });
  return (
    <li class="key-row">
      <div class="key-head">
        <strong>{person}</strong>
        {id === me.session_id && <Badge tone="accent">this session</Badge>}
        <span class="spacer" />
        {id !== me.session_id && (
          <button type="button" class="small danger" onClick={() => setIsAsking(true)}>
            End
          </button>
        )}
      </div>
      <p class="fine">
        {nameScopes(scopes)} in {organizations?.join(", ") ?? "all organizations"} · since <Time at={created_at} />
        {address !== null && ` from ${address}`} · until <Time at={expires_at} />
      </p>
      {isAsking && (
        <Confirm
          title={`End the session of ${person}?`}
          verb="End the session"
          isBusy={end.isBusy}
          onConfirm={() => end.run()}
          onClose={() => setIsAsking(false)}
        >
          <p>
            Every node refuses it from then on. Who may still sign in at the provider can begin another one: change that
            there.
          </p>
          {end.error !== undefined && <Problem error={end.error} />}
        </Confirm>
      )}
    </li>
  );
}
