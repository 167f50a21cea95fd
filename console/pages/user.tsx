import { useState } from "preact/hooks";
import type { UserToken } from "../../sdk/types.ts";
import { Badge, OnlineBadge } from "../parts/badge.tsx";
import { Connections } from "../parts/connections.tsx";
import { Secret } from "../parts/copy.tsx";
import { Deliveries } from "../parts/deliveries.tsx";
import { ChangeNameButton } from "../parts/directory/change-name.tsx";
import { DeleteUser } from "../parts/directory/delete-user.tsx";
import { Confirm } from "../parts/forms/dialog.tsx";
import { ChoiceField } from "../parts/forms/field.tsx";
import { Inbox } from "../parts/inbox.tsx";
import { Problem } from "../parts/problem.tsx";
import { SaidText } from "../parts/reports/said-text.tsx";
import { Loaded, NotAllowed } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useAction, useLoading } from "../state/loading.ts";
import { useConnections } from "../state/online.ts";
import { explainAbsence } from "../state/why/explain.ts";

/** One user: name, presence and connections, a test token, sign-out from all devices, blocking, what the user should have and has, and the inbox. */
export function User() {
  const { client, can, route, link } = useConsole();
  const org = useOrganization();
  const uid = route.id ?? "";
  const user = useLoading(() => client.getUser(org, uid), [org, uid]);
  const { connections, known, look } = useConnections(org, uid);
  return (
    <Loaded loading={user} what="the user">
      {({ name, created_at, blocked = false }) => (
        <>
          <p class="lead">
            {name !== null && <strong>{name}, </strong>}created <Time at={created_at} />{" "}
            {blocked && <Badge tone="bad">blocked</Badge>} <OnlineBadge connections={connections?.length} />{" "}
            <Devices devices={connections?.map(({ device_id }) => device_id) ?? []} />
            {can("system:send") && (
              <>
                {" · "}
                <a href={link("compose", undefined, { kind: "system_message", uid })}>Send a system message</a>
              </>
            )}
            {can("observe") && (
              <>
                {" · "}
                <a href={link("live", undefined, { uid })}>Watch their events live</a>
              </>
            )}
          </p>
          {connections?.length === 0 && known !== undefined && !blocked && (
            <p class="reason">
              <SaidText says={explainAbsence(known).says} />
            </p>
          )}
          {can("directory:write") && (
            <div class="feed-bar">
              <ChangeNameButton
                id={uid}
                name={name}
                read={() => client.getUser(org, uid)}
                put={(fields) => client.putUser(org, uid, fields)}
                code={{ action: "putUser", names: { org, uid } }}
                onChange={user.reload}
              />
              <DeleteUser org={org} uid={uid} />
            </div>
          )}
          <div class="two-columns">
            <div class="stack">
              {connections !== undefined && connections.length > 0 && (
                <Connections org={org} uid={uid} connections={connections} onClosed={look} />
              )}
              <Deliveries org={org} uid={uid} />
              <Inbox org={org} uid={uid} />
            </div>
            {can("directory:write") ? (
              <div class="stack">
                <TestToken org={org} uid={uid} />
                <SignOutUser org={org} uid={uid} />
                <BlockUser org={org} uid={uid} isBlocked={blocked} onChange={user.reload} />
              </div>
            ) : (
              <NotAllowed what="tokens and sessions" scope="directory:write" />
            )}
          </div>
        </>
      )}
    </Loaded>
  );
}

/** The names of the user's devices, each once. Devices without a name appear only in the badge's count. */
function Devices({ devices }: { devices: readonly (string | null)[] }) {
  const names = [...new Set(devices.filter((name) => name !== null))].sort();
  return names.length === 0 ? null : <>({names.join(", ")})</>;
}

const ages = [
  ["900", "15 minutes"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
] as const;

/** What a person types to run Herald; the bundler knows it. */
declare const heraldCommand: string;

function TestToken({ org, uid }: { org: string; uid: string }) {
  const { client } = useConsole();
  const [seconds, setSeconds] = useState("900");
  const [token, setToken] = useState<UserToken>();
  const make = useAction(async () => setToken(await client.createToken(org, uid, { ttl_seconds: Number(seconds) })));
  return (
    <section class="card stack" aria-labelledby="token">
      <h2 id="token">Token for testing</h2>
      <p class="fine">Anyone who has the token can connect as this user until it expires or you sign the user out.</p>
      <ChoiceField label="Valid for" value={seconds} options={ages} onChange={setSeconds} />
      <div class="actions">
        <button type="button" disabled={make.isBusy} onClick={() => make.run()}>
          Issue a token
        </button>
      </div>
      {make.error !== undefined && <Problem error={make.error} />}
      {token !== undefined && (
        <>
          <Secret label="User token" value={token.token} />
          <p class="fine">
            Valid until <Time at={token.expires_at} />. To listen with it:{" "}
            <code>{heraldCommand} listen --token "…"</code>
          </p>
        </>
      )}
    </section>
  );
}

function SignOutUser({ org, uid }: { org: string; uid: string }) {
  const { client, announce } = useConsole();
  const [isAsking, setIsAsking] = useState(false);
  const [isDone, setIsDone] = useState(false);
  const end = useAction(async () => {
    await client.endSessions(org, uid);
    setIsAsking(false);
    setIsDone(true);
    announce(`${uid} is signed out`);
  });
  return (
    <section class="card stack" aria-labelledby="sign-out">
      <h2 id="sign-out">Sign out everywhere</h2>
      <p class="fine">Closes all of the user's connections and refuses all tokens issued until now.</p>
      <div class="actions">
        <button type="button" class="danger" onClick={() => setIsAsking(true)}>
          Sign {uid} out
        </button>
      </div>
      {isDone && <p class="notice ok">Signed out. Tokens issued from now on work.</p>}
      {end.error !== undefined && <Problem error={end.error} />}
      {isAsking && (
        <Confirm
          title={`Sign ${uid} out everywhere?`}
          verb="Sign out"
          isBusy={end.isBusy}
          onConfirm={() => end.run()}
          onClose={() => setIsAsking(false)}
        >
          <p>The user's apps need a new token to reconnect.</p>
        </Confirm>
      )}
    </section>
  );
}

type BlockUserProps = { org: string; uid: string; isBlocked: boolean; onChange: () => void };

function BlockUser({ org, uid, isBlocked, onChange }: BlockUserProps) {
  const { client, announce } = useConsole();
  const [isAsking, setIsAsking] = useState(false);
  const change = useAction(async () => {
    await client.putUser(org, uid, { blocked: !isBlocked });
    setIsAsking(false);
    announce(isBlocked ? `${uid} is no longer blocked` : `${uid} is blocked`);
    onChange();
  });
  return (
    <section class="card stack" aria-labelledby="block">
      <h2 id="block">{isBlocked ? "Blocked" : "Block"}</h2>
      <p class="fine">
        {isBlocked
          ? "All of the user's tokens are refused, whoever issued them. Once you unblock the user, the same tokens work again."
          : "Closes all of the user's connections and refuses all of the user's tokens, including new ones, until you unblock the user."}
      </p>
      <div class="actions">
        {isBlocked ? (
          <button type="button" disabled={change.isBusy} onClick={() => change.run()}>
            Unblock {uid}
          </button>
        ) : (
          <button type="button" class="danger" onClick={() => setIsAsking(true)}>
            Block {uid}
          </button>
        )}
      </div>
      {change.error !== undefined && <Problem error={change.error} />}
      {isAsking && (
        <Confirm
          title={`Block ${uid}?`}
          verb="Block"
          isBusy={change.isBusy}
          onConfirm={() => change.run()}
          onClose={() => setIsAsking(false)}
        >
          <p>The user's apps cannot connect until you unblock the user. Messages are still stored.</p>
        </Confirm>
      )}
    </section>
  );
}
