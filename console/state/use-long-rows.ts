import { defaultRangeExtractor, observeWindowOffset, observeWindowRect, windowScroll } from "@tanstack/virtual-core";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useConsole } from "./context.ts";
import { useVirtualizer } from "./use-virtualizer.ts";

/** A list that the page scrolls. */
export type LongRows<Item extends { id: string }> = {
  label: string;
  items: readonly Item[];
  /** Whether more items follow, so that their number is unknown. */
  hasMore: boolean;
  /** How high a row is in pixels, as long as it was not on the screen. */
  rowHeight: number;
  /** Called with the items that are on the screen, when they have been for a moment. */
  onShow?: (items: readonly Item[]) => void;
  /** Called when the last items are on the screen. */
  onEnd?: () => void;
};

const beyond = 5; // rows rendered above and below the visible ones
const momentMs = 150;

/**
 * What stands in for rows that are not rendered, between one with the focus and those on the screen. Rows follow each other
 * otherwise, without styles of their own: Chromium takes ten times as long for rows of which each has its own.
 */
function gapBefore(start: number, endBefore = start) {
  return start === endBefore ? {} : { marginTop: `${start - endBefore}px` };
}

/**
 * The rows that are on the screen, so that thousands cost as much as a dozen. What
 * is added above the screen, as new messages are, does not move what the reader sees. The row with the focus and those beside it
 * are always among them. The attributes belong to the list and to each row.
 */
export function useLongRows<Item extends { id: string }, List extends HTMLElement>(props: LongRows<Item>) {
  const { label, items, hasMore, rowHeight, onShow, onEnd } = props;
  const list = useRef<List>(null);
  const focused = useRef<string | undefined>(undefined);
  const { place } = useConsole();
  const [top, setTop] = useState(0);
  // At once, before rows are measured that the reader has not seen: what is left of their estimated heights keeps the place exact.
  useLayoutEffect(() => {
    if (place.goal !== undefined) scrollTo(0, place.goal);
  }, []);
  // Another function would have all rows laid out again, at each step of a scroll.
  const keyOf = useCallback((index: number) => items[index]?.id ?? index, [items]);
  const virtualizer = useVirtualizer<Window>({
    count: items.length,
    getItemKey: keyOf,
    estimateSize: () => rowHeight,
    overscan: beyond,
    scrollMargin: top,
    anchorTo: scrollY > top ? "end" : "start",
    initialOffset: () => place.goal ?? scrollY,
    initialMeasurementsCache: place.heights.get(label) ?? [],
    initialRect: { width: innerWidth, height: innerHeight },
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    rangeExtractor(range) {
      const kept = focused.current === undefined ? -1 : items.findIndex(({ id }) => id === focused.current);
      const aroundFocus =
        kept < 0 ? [] : [kept - 1, kept, kept + 1].filter((index) => index >= 0 && index < items.length);
      return [...new Set([...defaultRangeExtractor(range), ...aroundFocus])].sort((left, right) => left - right);
    },
  });
  useLayoutEffect(() => {
    if (list.current !== null) setTop(Math.round(list.current.getBoundingClientRect().top + scrollY));
  });

  useEffect(() => () => void place.heights.set(label, virtualizer.takeSnapshot()), [place]);

  const rows = virtualizer.getVirtualItems().flatMap(({ index, start, end }) => {
    const item = items[index];
    return item === undefined ? [] : [{ item, index, start, end }];
  });
  const shown = rows.map(({ item }) => item);
  useEffect(() => {
    const timer = setTimeout(() => onShow?.(shown), momentMs);
    return () => clearTimeout(timer);
  }, [shown.map(({ id }) => id).join("\n")]);
  const isAtEnd = rows.some(({ index }) => index === items.length - 1);
  useEffect(() => {
    if (isAtEnd && hasMore) onEnd?.();
  }, [isAtEnd, hasMore, items.length]);

  return {
    ofList: {
      ref: list,
      style: { height: `${virtualizer.getTotalSize()}px`, paddingTop: `${(rows[0]?.start ?? top) - top}px` },
      onFocusIn: ({ target }: { target: EventTarget | null }) => {
        focused.current = target instanceof Element ? target.closest<HTMLElement>("[data-id]")?.dataset.id : undefined;
      },
      onFocusOut: () => {
        focused.current = undefined;
      },
    },
    rows: rows.map(({ item, index, start }, position) => ({
      item,
      index,
      ofRow: {
        ref: virtualizer.measureElement,
        "data-id": item.id,
        "data-index": index,
        style: gapBefore(start, rows[position - 1]?.end),
      },
    })),
  };
}
