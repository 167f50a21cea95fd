import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Await, AwaitContext } from "../state/awaited.ts";

/**
 * Shows its children once all that they await has been answered or has failed, so that nothing moves while one reads. Until then they
 * are laid out but not visible, because lists measure their rows. What they await later hides nothing.
 */
export function AtOnce({ children }: { children: ComponentChildren }) {
  const [isShown, setIsShown] = useState(false);
  const awaited = useRef(0);
  const frame = useRef(0);
  // After two frames: what an answer brings with it has said by then what it awaits itself, and lists have measured their rows.
  const showSoon = useCallback(() => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      frame.current = requestAnimationFrame(() => awaited.current === 0 && setIsShown(true));
    });
  }, []);
  const begin = useCallback<Await>(() => {
    awaited.current++;
    return () => {
      awaited.current--;
      showSoon();
    };
  }, []);
  useEffect(() => {
    showSoon();
    return () => cancelAnimationFrame(frame.current);
  }, []);
  return (
    <AwaitContext.Provider value={begin}>
      <div class={isShown ? "at-once" : "at-once is-held"}>
        {!isShown && (
          <p class="waiting" role="status">
            Loading…
          </p>
        )}
        {children}
      </div>
    </AwaitContext.Provider>
  );
}
