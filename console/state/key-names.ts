import { useMemo } from "preact/hooks";
import { useAwaited } from "./awaited.ts";
import { useConsole } from "./context.ts";
import { useLoading } from "./loading.ts";

const most = 1_000;

/** The names of keys by their ids, as far as the key may read them: none without `keys:manage`, nor those of revoked keys. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { client, can } = useConsole();
  const mayRead = can("keys:manage");
  const keys = useLoading(async () => (mayRead ? (await client.listKeys({ limit: most })).items : []), []);
  useAwaited(keys.isLoading);
  return useMemo(() => new Map((keys.value ?? []).map(({ id, name }) => [id, name])), [keys.value]);
}
