import { useEffect, useRef } from "preact/hooks";
import { useConsole } from "./context.ts";

/** Tells a screen reader how many more of `noun` there are, at most every five seconds. */
export function useTold(count: number, noun: string): void {
  const { announce } = useConsole();
  const latest = useRef(count);
  latest.current = count;
  useEffect(() => {
    let told = latest.current;
    const timer = setInterval(() => {
      const fresh = latest.current - told;
      if (fresh > 0) announce(`${fresh} new ${noun}${fresh === 1 ? "" : "s"}`);
      told = latest.current;
    }, 5000);
    return () => clearInterval(timer);
  }, []);
}
