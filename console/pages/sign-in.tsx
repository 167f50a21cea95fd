import { useEffect, useRef, useState } from "preact/hooks";
import { type AdminClient, createAdmin } from "../../sdk/admin/admin.ts";
import type { OwnApiKey } from "../../sdk/types.ts";
import { Field } from "../parts/forms/field.tsx";
import { explain, Problem } from "../parts/problem.tsx";
import { keyStore } from "../state/key-store.ts";
import { basePath, serverUrl } from "../state/server.ts";

/** An accepted key and what it may do. */
export type Session = { apiKey: string; client: AdminClient; me: OwnApiKey };

/** A client that gives up soon, because a person is waiting and can press a button to try again. */
function createConsoleClient(apiKey: string): AdminClient {
  return createAdmin({ url: serverUrl, key: apiKey, retries: 1, timeoutMs: 15_000 });
}

/** Asks the server what the key may do. Rejects if the server refuses it. */
export async function signIn(apiKey: string): Promise<Session> {
  const client = createConsoleClient(apiKey);
  return { apiKey, client, me: await client.getOwnKey() };
}

type Props = {
  onSignIn: (session: Session) => void;
  /** Why the previous session ended, or why this tab's key did not work. */
  reason: unknown;
  /** Tries this tab's key again, if there is one. */
  retry: (() => void) | undefined;
};

/** Asks for an API key. */
export function SignIn({ onSignIn, reason, retry }: Props) {
  const [apiKey, setApiKey] = useState("");
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: reason });
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
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
    <main class="sign-in">
      <div class="card">
        <p class="brand">
          <img src={icon()} alt="" width="28" height="28" /> Herald
        </p>
        <h1>Sign in to the console</h1>
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
      </div>
    </main>
  );
}

/** The icon's address, which the bundler chooses. */
function icon(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? "";
}
