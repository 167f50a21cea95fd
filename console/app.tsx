import { useCallback, useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { HeraldApiError } from "../sdk/errors.ts";
import { type Session, SignIn, signIn } from "./pages/sign-in.tsx";
import { Shell } from "./parts/shell.tsx";
import { Waiting } from "./parts/states.tsx";
import type { Contact } from "./state/contact.ts";
import { type Console, ConsoleContext } from "./state/context.ts";
import { keyStore } from "./state/key-store.ts";
import { createNodeHistory } from "./state/node-history.ts";
import { useOrganizations } from "./state/organizations.ts";
import { createPlaces } from "./state/places.ts";
import { mayHaveSession, providerHost } from "./state/provider.ts";
import { parseRoute, routeTo } from "./state/route.ts";

/** The console. Asks who uses it if neither this tab has a key nor this browser a session, then shows what that allows. */
export function App() {
  const [session, setSession] = useState<Session>();
  const [isTrying, setIsTrying] = useState(keyStore.read() !== null || providerHost !== undefined);
  const [reason, setReason] = useState<unknown>();

  const tryKept = useCallback(() => {
    const kept = keyStore.read();
    if (kept === null && providerHost === undefined) return;
    setIsTrying(true);
    trySignIn(kept)
      .then(setSession, (error: unknown) => {
        const isRefused = error instanceof HeraldApiError && error.status === 401;
        if (isRefused) keyStore.clear();
        if (kept !== null || !isRefused) setReason(error); // nobody has to hear that an earlier session has ended
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
      retry={keyStore.read() === null && providerHost === undefined ? undefined : tryKept}
      onSignIn={(made) => {
        keyStore.write(made.apiKey);
        setSession(made);
      }}
    />
  );
}

/** Signs in with this tab's key, or else with the session of this browser, if it may have one. */
async function trySignIn(key: string | null): Promise<Session | undefined> {
  return key !== null || (await mayHaveSession()) ? await signIn(key ?? "") : undefined;
}

/** When the server answered last, if it does not answer now, and how often it has come back. */
function useContact(contact: Contact) {
  const [state, setState] = useState({ asOf: contact.asOf(), comebacks: 0 });
  useEffect(() => {
    contact.onChange(() => {
      const asOf = contact.asOf();
      setState(({ comebacks }) => ({ asOf, comebacks: asOf === undefined ? comebacks + 1 : comebacks }));
    });
    return contact.stop;
  }, [contact]);
  return state;
}

function SignedIn({ session, onEnd }: { session: Session; onEnd: (why: unknown) => void }) {
  const { client, readLog, contact, me } = session;
  const places = useMemo(createPlaces, []);
  const [{ route, place }, setCurrent] = useState(() => ({
    route: parseRoute(location.hash),
    place: places.current(),
  }));
  const [said, setSaid] = useState("");
  const history = useMemo(createNodeHistory, []);
  const organizations = useOrganizations(client, me);
  const { asOf, comebacks } = useContact(contact);
  useEffect(() => {
    if (organizations.error !== undefined) organizations.reload();
  }, [comebacks]);
  const org = me.organization ?? route.query.org ?? organizations.first;

  // Before the page is shown, so that no address is missed that is chosen at once.
  useLayoutEffect(() => {
    const follow = () => {
      place.scroll = scrollY;
      setCurrent({ route: parseRoute(location.hash), place: places.current() });
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [place]);

  const signOut = () => {
    if (me.session_id === null) return onEnd(undefined);
    client.endSession(me.session_id).then(() => onEnd(undefined), onEnd);
  };

  const value: Console = {
    client,
    readLog,
    me,
    org,
    route,
    place,
    history,
    asOf,
    comebacks,
    can: (scope) => me.scopes.includes(scope) || me.scopes.includes("*"),
    reloadOrganizations: organizations.reload,
    link: (page, id, query) => routeTo(page, id, { ...query, org: me.organization === null ? org : undefined }),
    announce: setSaid,
    noteFailure: (error) => {
      if (error instanceof HeraldApiError && error.status === 401) onEnd(error);
    },
  };
  return (
    <ConsoleContext.Provider value={value}>
      <Shell organizations={organizations} signOut={signOut} />
      <p class="visually-hidden" aria-live="polite">
        {said}
      </p>
    </ConsoleContext.Provider>
  );
}
