/** What a client has heard: the `_id` of the last message, and the ids of events, the last one at the end. */
export type Progress = { since: string | undefined; readonly ids: Set<string> };

/** More than a server replays at once (1,000), so that the client recognizes every duplicate. */
const rememberedIds = 4_000;

/** Notes ids, of which the oldest are forgotten, so that memory stays bounded. Returns whether the last one is new. */
export function noteId({ ids }: Progress, id: string): boolean {
  if (ids.has(id)) return false;
  ids.add(id);
  for (const oldest of ids) {
    if (ids.size <= rememberedIds) break;
    ids.delete(oldest);
  }
  return true;
}
