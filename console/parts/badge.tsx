import type { ComponentChildren } from "preact";

/** A coloured label. Its text carries the whole meaning, so nobody has to see the colour. */
export function Badge({
  tone,
  children,
}: {
  tone: "ok" | "warn" | "bad" | "system" | "plain" | "accent";
  children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** The user's current number of connections. */
export function OnlineBadge({ connections }: { connections: number | undefined }) {
  if (connections === undefined) return null;
  if (connections === 0) return <Badge tone="plain">offline</Badge>;
  return <Badge tone="ok">{connections === 1 ? "online" : `online on ${connections} devices`}</Badge>;
}
