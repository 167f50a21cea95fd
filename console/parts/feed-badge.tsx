import type { FeedStanding } from "../state/feed.ts";
import { Badge } from "./badge.tsx";

/** Whether a page hears what is delivered. */
export function FeedBadge({ standing }: { standing: FeedStanding }) {
  if (standing.is === "open") return <Badge tone="ok">listening</Badge>;
  if (standing.is === "connecting") return <Badge tone="plain">connecting</Badge>;
  if (standing.is === "lost") return <Badge tone="warn">connection lost, retrying</Badge>;
  return <Badge tone="bad">ended</Badge>;
}
