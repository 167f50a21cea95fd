import { useEffect, useId, useRef, useState } from "preact/hooks";
import { keyStore } from "../state/key-store.ts";

type Props = {
  isBusy: boolean;
  /** Why the last key did not work. */
  fault: string | undefined;
  onKey: (key: string) => void;
};

/** Asks for the key that `npm start` wrote to a file. */
export function SignIn({ isBusy, fault, onKey }: Props) {
  const [key, setKey] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const field = useId();
  const hint = useId();
  useEffect(() => input.current?.focus(), []);
  return (
    <form
      class="card sign-in stack"
      onSubmit={(event) => {
        event.preventDefault();
        onKey(key.trim());
      }}
    >
      <div class="field">
        <label for={field}>Admin API key</label>
        <p class="fine" id={hint}>
          The server stores it in a file. To show it, run this in a second terminal, in the folder where you ran{" "}
          <code>npm start</code>:
        </p>
        <pre class="code">cat data/admin-api-key</pre>
        <input
          id={field}
          ref={input}
          type="password"
          class="mono"
          autocomplete="off"
          required
          aria-describedby={hint}
          aria-invalid={fault !== undefined}
          value={key}
          onInput={({ currentTarget }) => setKey(currentTarget.value)}
        />
        {fault !== undefined && (
          <p class="field-error" role="alert">
            {fault}
          </p>
        )}
      </div>
      <button type="submit" class="primary" disabled={isBusy}>
        {isBusy ? "Opening…" : "Open the demo"}
      </button>
      <p class="fine">
        The page uses the key to do what your backend would do: issue a token for each user, and send. The key is sent
        only to this server, and stays in this tab until you {keyStore.isKept() ? "close it" : "load it again"} or sign
        out.
      </p>
    </form>
  );
}
