import { useState } from "preact/hooks";
import { type Loading, useAction, useLoading, useWhenBack } from "../loading.ts";
import type { Found } from "./sources.ts";

/** What was found so far, and whether there is more to look through. */
export type Look<Item> = Loading<Item[]> & { hasMore: boolean; more(): void };

const nothing = { items: [], next: undefined };

/**
 * Looks once, when it may, and further on request. Each look is bounded, so that one at a large log costs as little as one at a small
 * one.
 */
export function useLook<Item>(
  look: (from: string | undefined) => Promise<Found<Item>>,
  inputs: readonly unknown[],
  mayLook: boolean,
): Look<Item> {
  const first = useLoading(async () => (mayLook ? await look(undefined) : nothing), [...inputs, mayLook]);
  const [later, setLater] = useState<Found<Item> & { after: Found<Item> | undefined }>();
  const rest = later?.after === first.value ? later : undefined;
  const next = (rest ?? first.value)?.next;
  const further = useAction(async () => {
    const found = await look(next);
    setLater({ items: [...(rest?.items ?? []), ...found.items], next: found.next, after: first.value });
  });
  useWhenBack(further.error !== undefined, further.run);
  return {
    value: first.value === undefined ? undefined : [...first.value.items, ...(rest?.items ?? [])],
    error: first.error ?? further.error,
    isLoading: first.isLoading || further.isBusy,
    reload: first.reload,
    hasMore: next !== undefined,
    more: further.run,
  };
}
