import { useEffect, useRef, useState } from "preact/hooks";
import { type AdminClient, createAdmin } from "../../sdk/admin/admin.ts";
import type { OwnApiKey } from "../../sdk/types.ts";
import { Field } from "../parts/forms/field.tsx";
import { Fold } from "../parts/forms/fold.tsx";
import { explain, Problem } from "../parts/problem.tsx";
import { type Contact, createContact } from "../state/contact.ts";
import { keyStore } from "../state/key-store.ts";
import { goToProvider, providerHost } from "../state/provider.ts";
import { basePath, serverUrl } from "../state/server.ts";
import { createLogReader, type ReadLog } from "../state/story/log-pages.ts";

/** An accepted key and what it may do; an empty one if the session of a person is in use instead, which the browser sends by itself. */
export type Session = { apiKey: string; client: AdminClient; readLog: ReadLog; contact: Contact; me: OwnApiKey };

/** A client that gives up soon, because a person is waiting and can press a button to try again. */
function createConsoleClient(apiKey: string, { fetch }: Contact): AdminClient {
  return createAdmin({ url: serverUrl, key: apiKey, retries: 1, timeoutMs: 15_000, fetch });
}

/** Asks the server what the key may do or, if it is empty, the session of this browser. Rejects if the server refuses it. */
export async function signIn(apiKey: string): Promise<Session> {
  const contact = createContact(`${serverUrl}/healthz`);
  const client = createConsoleClient(apiKey, contact);
  try {
    const readLog = createLogReader(serverUrl, apiKey, contact.fetch);
    return { apiKey, client, readLog, contact, me: await client.getOwnKey() };
  } catch (error) {
    contact.stop();
    throw error;
  }
}

type Props = {
  onSignIn: (session: Session) => void;
  /** Why the previous session ended, or why this tab's key did not work. */
  reason: unknown;
  /** Tries this tab's key again, if there is one. */
  retry: (() => void) | undefined;
};

/** Asks for an API key or, if people sign in at an OpenID provider, leads there. */
export function SignIn(props: Props) {
  return (
    <main class="sign-in">
      <div class="card">
        <p class="brand">
          <img src={icon()} alt="" width="28" height="28" /> Herald
        </p>
        <h1>Sign in to the console</h1>
        {providerHost === undefined ? <KeyForm {...props} /> : <ProviderFirst host={providerHost} {...props} />}
      </div>
    </main>
  );
}

function ProviderFirst({ host, ...props }: Props & { host: string }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const { code } = explain(props.reason);
  return (
    <>
      {code === "unauthorized" && <p role="alert">Your session has ended.</p>}
      {props.reason !== undefined && code !== "unauthorized" && <Problem error={props.reason} retry={props.retry} />}
      <button ref={button} type="button" class="primary" onClick={goToProvider}>
        Sign in at {host}
      </button>
      <Fold summary="Use an API key instead" isWrong={false}>
        <KeyForm {...props} reason={undefined} isFolded />
      </Fold>
    </>
  );
}

function KeyForm({ onSignIn, reason, retry, isFolded = false }: Props & { isFolded?: boolean }) {
  const [apiKey, setApiKey] = useState("");
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: reason });
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!isFolded) field.current?.focus();
  }, []);
  const submit = async () => {
    setState({ isBusy: true, error: undefined });
    try {
      onSignIn(await signIn(apiKey.trim()));
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  const isRefused = explain(state.error).code === "unauthorized";
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field
          label="API key"
          hint={
            <>
              The server generated one at its first start, in the file <code>admin-api-key</code> in its data folder.
              Prefer a key of your own: the console then shows only what that key allows.
            </>
          }
          error={
            isRefused
              ? "The server refuses this key. It may be mistyped, expired or revoked, or not allowed from this network."
              : undefined
          }
        >
          {(control) => (
            <input
              {...control}
              ref={field}
              type="password"
              class="mono"
              autocomplete="off"
              required
              value={apiKey}
              onInput={({ currentTarget }) => setApiKey(currentTarget.value)}
            />
          )}
        </Field>
        {state.error !== undefined && !isRefused && (
          <Problem error={state.error} retry={state.error === reason ? retry : undefined} />
        )}
        {isRefused && (
          <p class="visually-hidden" role="alert">
            The server refuses this key.
          </p>
        )}
        <button type="submit" class="primary" disabled={state.isBusy}>
          {state.isBusy ? "Signing in…" : "Sign in"}
        </button>
      </form>
      <p class="fine">
        {keyStore.isKept()
          ? "The key stays in this tab until you sign out or close it."
          : "This browser stores nothing for this page, so the key is asked for again when the page is loaded again."}{" "}
        <a href={`${basePath}/docs`}>Reference</a>
      </p>
    </>
  );
}

/** The icon's address, which the bundler chooses. */
function icon(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? "";
}
