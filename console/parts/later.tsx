import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "./problem.tsx";
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
    if (state.error !== undefined) return <Problem error={state.error} retry={start} />;
    return state.Content === undefined ? <Waiting what={what} /> : <state.Content />;
  };
}
