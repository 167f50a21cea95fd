import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { explain } from "./problem.tsx";
import { Waiting } from "./states.tsx";

/** A page whose code loads when it is first shown. */
export function later(what: string, load: () => Promise<ComponentType>): ComponentType {
  return function Later() {
    const [state, setState] = useState<{ Content?: ComponentType; error?: unknown }>({});
    const start = () => {
      load().then(
        (Content) => setState({ Content }),
        (error: unknown) => setState({ error }),
      );
    };
    useEffect(start, []);
    if (state.error !== undefined) return <NotLoaded what={what} error={state.error} retry={start} />;
    return state.Content === undefined ? <Waiting what={what} /> : <state.Content />;
  };
}

/** A browser does not say why: the server may be away, or have files of another version, whose names are others. */
function NotLoaded({ what, error, retry }: { what: string; error: unknown; retry: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p class="notice-title">The browser could not load {what}</p>
      <p>
        Load the page again: the server may have been upgraded since it was opened. If that does not help, check that
        the server is running.
      </p>
      <p class="fine">{explain(error).detail}</p>
      <p>
        <button type="button" class="small" onClick={() => location.reload()}>
          Load the page again
        </button>{" "}
        <button type="button" class="small" onClick={retry}>
          Try again
        </button>
      </p>
    </div>
  );
}
