import { useEffect, useRef, useState } from "preact/hooks";
import { type AdminClient, createAdminClient } from "../../sdk/admin/admin.ts";
import type { OwnApiKey } from "../../sdk/types.ts";
import { Field } from "../parts/forms/field.tsx";
import { explain, Problem } from "../parts/problem.tsx";

/** A key that was accepted, and what it may do. */
export type Session = { apiKey: string; client: AdminClient; me: OwnApiKey };

/** A client that gives up soon: a person waits, and has a button to try again. */
function createConsoleClient(apiKey: string): AdminClient {
  return createAdminClient({ url: location.origin, key: apiKey, retries: 1, timeoutMs: 15_000 });
}

/** Asks the server what the key may do. Rejects when it is refused. */
export async function signIn(apiKey: string): Promise<Session> {
  const client = createConsoleClient(apiKey);
  return { apiKey, client, me: await client.getOwnKey() };
}

type Props = {
  onSignIn: (session: Session) => void;
  /** Why the session before ended, or the key of this tab could not be used. */
  reason: unknown;
};

/** Asks for an API key. */
export function SignIn({ onSignIn, reason }: Props) {
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
                The server made one at its first start: it is in <code>admin-api-key</code> in the data folder. Better
                is a key of your own, which shows only what it allows.
              </>
            }
            error={
              isRefused
                ? "The server refuses this key: it is mistyped, expired, revoked, or not for this network."
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
          {state.error !== undefined && !isRefused && <Problem error={state.error} />}
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
          The key stays in this tab until you sign out or close it. <a href="/docs">Reference</a>
        </p>
      </div>
    </main>
  );
}

/** The icon under the name that the bundler gave it. */
function icon(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? "";
}
