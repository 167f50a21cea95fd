import { Virtualizer, type VirtualizerOptions } from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

type Options<Scroller extends Element | Window> = Omit<VirtualizerOptions<Scroller, HTMLElement>, "onChange">;

/** Says which rows of a long list are on the screen, and renders again when others are. TanStack Virtual has no adapter for Preact. */
export function useVirtualizer<Scroller extends Element | Window>(
  options: Options<Scroller>,
): Virtualizer<Scroller, HTMLElement> {
  const [, render] = useReducer((turn: number, _: undefined) => turn + 1, 0);
  const whole = { ...options, onChange: () => render(undefined) };
  const [virtualizer] = useState(() => new Virtualizer<Scroller, HTMLElement>(whole));
  virtualizer.setOptions(whole);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
