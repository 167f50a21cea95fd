import type { VirtualItem } from "@tanstack/virtual-core";

/** What is remembered of a page for when the reader comes back to it by the browser's history. */
export type Place = {
  /** How far the page was scrolled, in pixels. */
  scroll: number;
  /** How far the page is still to be scrolled, from when the reader comes back until it is there, or the reader handles it. */
  goal?: number | undefined;
  /** How many rows its lists had, by their names. What they contain is read again. */
  lengths: Map<string, number>;
  /** How high their rows were, by their names. */
  heights: Map<string, VirtualItem[]>;
};

const mostKept = 50;

/** The places of this tab's history, until the page is loaded again. */
export function createPlaces() {
  const places = new Map<string, Place>();
  let made = 0;
  history.scrollRestoration = "manual"; // the browser does it before the lists are there

  function nameOf(state: unknown): string | undefined {
    return typeof state === "object" && state !== null && "place" in state ? String(state.place) : undefined;
  }

  return {
    /** The place of the current entry of the history: a new one, unless the reader has come back. */
    current(): Place {
      const known = nameOf(history.state);
      const name = known ?? `${performance.timeOrigin}-${++made}`;
      if (known === undefined) history.replaceState({ place: name }, "");
      const place: Place = places.get(name) ?? { scroll: 0, lengths: new Map(), heights: new Map() };
      place.goal = place.scroll;
      places.delete(name);
      places.set(name, place);
      const [oldest] = places.keys();
      if (places.size > mostKept && oldest !== undefined) places.delete(oldest);
      return place;
    },
  };
}

const handlings = ["wheel", "pointerdown", "keydown"] as const;
const patienceMs = 5_000;

/**
 * Scrolls to where a page was, and on as the page becomes longer, until it is there, the reader handles it, or five seconds have
 * passed. Returns a function that gives up.
 */
export function scrollTowards(place: Place): () => void {
  const { scroll } = place;
  const attempt = () => {
    scrollTo(0, scroll);
    if (scrollY >= Math.floor(scroll)) stop();
  };
  const growth = new ResizeObserver(attempt);
  const stop = () => {
    place.goal = undefined;
    growth.disconnect();
    clearTimeout(timer);
    for (const name of handlings) removeEventListener(name, stop);
  };
  const timer = setTimeout(stop, patienceMs);
  for (const name of handlings) addEventListener(name, stop, { passive: true });
  growth.observe(document.body);
  attempt();
  return stop;
}
