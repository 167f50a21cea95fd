import { useEffect, useState } from "preact/hooks";
import type { AdminClient } from "../../sdk/admin/admin.ts";
import type { DirectoryEntry, OwnApiKey } from "../../sdk/types.ts";

/** The organizations to choose from. */
export type Organizations = {
  /** `undefined` while unknown, or if the key may not read them. */
  items: DirectoryEntry[] | undefined;
  /** Whether there are more than `items`. Any id can then be typed. */
  hasMore: boolean;
  first: string | undefined;
  isLoading: boolean;
  error: unknown;
  reload(): void;
};

const mostListed = 200;

/** In how many organizations besides the selected one the console looks at once, for what is wrong and for what is searched. */
export const mostOthers = 20;

/** What people call an organization. */
export function nameOf({ id, name }: Pick<DirectoryEntry, "id" | "name">): string {
  return name ?? id;
}

/** Lists the organizations, if the key may do so. A key that is bound to one needs no list. */
export function useOrganizations(client: AdminClient, { organization, scopes }: OwnApiKey): Organizations {
  const mayList = organization === null && scopes.some((scope) => scope === "directory:read" || scope === "*");
  const [state, setState] = useState<Omit<Organizations, "reload" | "first">>({
    items: undefined,
    hasMore: false,
    isLoading: mayList,
    error: undefined,
  });
  const load = () => {
    if (!mayList) return;
    client.listOrganizations({ limit: mostListed }).then(
      ({ items, cursor }) => setState({ items, hasMore: cursor !== null, isLoading: false, error: undefined }),
      (error: unknown) => setState((before) => ({ ...before, isLoading: false, error })),
    );
  };
  useEffect(load, []);
  return { ...state, first: state.items?.[0]?.id, reload: load };
}
