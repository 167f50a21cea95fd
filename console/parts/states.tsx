import type { ComponentChildren } from "preact";
import type { Scope } from "../../src/contract/keys/scopes.ts";
import { scopes } from "../../src/contract/keys/scopes.ts";
import type { Loading } from "../state/loading.ts";
import { Problem } from "./problem.tsx";

/** Where something will stand. Says so only after a moment, so that what comes at once does not flicker. */
export function Waiting({ what }: { what: string }) {
  return (
    <p class="waiting" role="status">
      Loading {what}…
    </p>
  );
}

/** Nothing is there: why that is, and what brings something. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="fine">{children}</div>}
    </div>
  );
}

/** In place of what the key does not allow. */
export function NotAllowed({ what, scope }: { what: string; scope: Scope }) {
  return (
    <div class="notice">
      <p class="notice-title">Your key does not show {what}</p>
      <p>
        That needs the scope <code>{scope}</code>: {scopes[scope]} Ask who manages the keys for one that has it.
      </p>
    </div>
  );
}

type LoadedProps<Value> = {
  loading: Loading<Value>;
  what: string;
  children: (value: Value) => ComponentChildren;
};

/** What was loaded, or that it is being loaded, or why it could not be. An older value stays beside the error. */
export function Loaded<Value>({ loading, what, children }: LoadedProps<Value>) {
  const { value, error, isLoading, reload } = loading;
  return (
    <>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {value !== undefined ? children(value) : isLoading && <Waiting what={what} />}
    </>
  );
}

/** The end of a list: a button while there is more. */
export function More({ hasMore, isLoading, more }: { hasMore: boolean; isLoading: boolean; more: () => void }) {
  if (!hasMore) return null;
  return (
    <button type="button" class="more" disabled={isLoading} onClick={more}>
      {isLoading ? "Loading…" : "Show more"}
    </button>
  );
}
