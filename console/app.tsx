import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { HeraldApiError } from "../sdk/errors.ts";
import { type Session, SignIn, signIn } from "./pages/sign-in.tsx";
import { Shell } from "./parts/shell.tsx";
import { Waiting } from "./parts/states.tsx";
import { type Console, ConsoleContext } from "./state/context.ts";
import { keyStore } from "./state/key-store.ts";
import { createNodeHistory } from "./state/node-history.ts";
import { useOrganizations } from "./state/organizations.ts";
import { parseRoute, routeTo } from "./state/route.ts";

/** The console. Asks for a key if this tab has none, then shows what the key allows. */
export function App() {
  const [session, setSession] = useState<Session>();
  const [isTrying, setIsTrying] = useState(keyStore.read() !== null);
  const [reason, setReason] = useState<unknown>();

  const tryKept = useCallback(() => {
    const kept = keyStore.read();
    if (kept === null) return;
    setIsTrying(true);
    signIn(kept)
      .then(setSession, (error: unknown) => {
        if (error instanceof HeraldApiError && error.status === 401) keyStore.clear();
        setReason(error);
      })
      .finally(() => setIsTrying(false));
  }, []);
  useEffect(tryKept, []);

  const end = useCallback((why: unknown) => {
    keyStore.clear();
    setReason(why);
    setSession(undefined);
  }, []);

  if (session !== undefined) return <SignedIn key={session.apiKey} session={session} onEnd={end} />;
  if (isTrying) return <Waiting what="the console" />;
  return (
    <SignIn
      reason={reason}
      retry={keyStore.read() === null ? undefined : tryKept}
      onSignIn={(made) => {
        keyStore.write(made.apiKey);
        setSession(made);
      }}
    />
  );
}

function SignedIn({ session, onEnd }: { session: Session; onEnd: (why: unknown) => void }) {
  const { client, me } = session;
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  const [said, setSaid] = useState("");
  const history = useMemo(createNodeHistory, []);
  const organizations = useOrganizations(client, me);
  const org = me.organization ?? route.query.org ?? organizations.first;

  useEffect(() => {
    const follow = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  const value: Console = {
    client,
    me,
    org,
    route,
    history,
    can: (scope) => me.scopes.includes(scope) || me.scopes.includes("*"),
    link: (page, id, query) => routeTo(page, id, { ...query, org: me.organization === null ? org : undefined }),
    announce: setSaid,
    noteFailure: (error) => {
      if (error instanceof HeraldApiError && error.status === 401) onEnd(error);
    },
  };
  return (
    <ConsoleContext.Provider value={value}>
      <Shell organizations={organizations} signOut={() => onEnd(undefined)} />
      <p class="visually-hidden" aria-live="polite">
        {said}
      </p>
    </ConsoleContext.Provider>
  );
}
