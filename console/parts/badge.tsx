import type { ComponentChildren } from "preact";

/** A word with a colour; the word says all that the colour says. */
export function Badge({
  tone,
  children,
}: {
  tone: "ok" | "warn" | "bad" | "system" | "plain" | "accent";
  children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** How many connections a user has now. */
export function OnlineBadge({ connections }: { connections: number | undefined }) {
  if (connections === undefined) return null;
  if (connections === 0) return <Badge tone="plain">offline</Badge>;
  return <Badge tone="ok">{connections === 1 ? "online" : `online on ${connections} devices`}</Badge>;
}
