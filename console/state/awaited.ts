import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

/** Says that something is awaited, until the returned function is called. */
export type Await = () => () => void;

/** `AtOnce` provides this to its children. Elsewhere, nothing is held back. */
export const AwaitContext = createContext<Await>(() => () => undefined);

/**
 * Holds back the page while `isAwaited`, unless it is shown already. For what would move the page if it arrived later; it must end
 * with a failure, too.
 */
export function useAwaited(isAwaited: boolean): void {
  const begin = useContext(AwaitContext);
  useLayoutEffect(() => (isAwaited ? begin() : undefined), [isAwaited]);
}
