import type { ComponentChildren } from "preact";
import type { Scope } from "../../src/contract/keys/scopes.ts";
import { scopes } from "../../src/contract/keys/scopes.ts";
import { useAwaited } from "../state/awaited.ts";
import { isUnanswered, isUnreachable } from "../state/contact.ts";
import { useConsole } from "../state/context.ts";
import type { Loading } from "../state/loading.ts";
import { Problem } from "./problem.tsx";
import { timeOfDay } from "./time.tsx";

/** A placeholder while something loads. Appears only after a moment, so that fast responses do not flicker. */
export function Waiting({ what }: { what: string }) {
  return (
    <p class="waiting" role="status">
      Loading {what}…
    </p>
  );
}

/** An empty state: why nothing is shown, and how to change that. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="fine">{children}</div>}
    </div>
  );
}

/** Shown instead of what the key does not allow. */
export function NotAllowed({ what, scope }: { what: string; scope: Scope }) {
  return (
    <div class="notice">
      <p class="notice-title">Your key does not show {what}</p>
      <p>
        This requires the scope <code>{scope}</code>: {scopes[scope]} Ask whoever manages the keys for a key with this
        scope.
      </p>
    </div>
  );
}

/** Marks all that a page shows while the server does not answer. */
export function AsOf() {
  const { asOf } = useConsole();
  if (asOf === undefined) return null;
  return (
    <div class="as-of" role="alert">
      <strong>Herald does not respond.</strong> What is shown is as of {timeOfDay(asOf)} or earlier. It is read again as
      soon as there is an answer.
    </div>
  );
}

type RefreshProps = { error: unknown; hasValue: boolean; what?: string; retry?: () => void };

/** A failure to refresh what is shown, or `what`. The page says together what it shows while the server does not answer. */
export function RefreshProblem({ error, hasValue, what, retry }: RefreshProps) {
  const { asOf } = useConsole();
  if (error === undefined) return null;
  const isTold = asOf !== undefined && isUnanswered(error);
  if (isTold && hasValue) return null;
  if (!isTold || !isUnreachable(error)) return <Problem error={error} what={what} retry={retry} />;
  return (
    <Empty title={what ?? "Not read yet"}>
      {retry !== undefined && (
        <button type="button" class="small" onClick={retry}>
          Try again
        </button>
      )}
    </Empty>
  );
}

type LoadedProps<Value> = {
  loading: Loading<Value>;
  what: string;
  children: (value: Value) => ComponentChildren;
};

/** Shows a loaded value, a placeholder while it loads, or the error. After an error, the previous value stays visible. */
export function Loaded<Value>({ loading, what, children }: LoadedProps<Value>) {
  const { value, error, isLoading, reload } = loading;
  useAwaited(value === undefined && isLoading);
  return (
    <>
      <RefreshProblem error={error} hasValue={value !== undefined} retry={reload} />
      {value !== undefined ? children(value) : isLoading && <Waiting what={what} />}
    </>
  );
}

/** The end of a list: a button, if there is more. */
export function More({ hasMore, isLoading, more }: { hasMore: boolean; isLoading: boolean; more: () => void }) {
  if (!hasMore) return null;
  return (
    <button type="button" class="more" disabled={isLoading} onClick={more}>
      {isLoading ? "Loading…" : "Show more"}
    </button>
  );
}
