import type { ComponentChildren } from "preact";
import { useConsole } from "../state/context.ts";

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
  const { asOf } = useConsole();
  if (connections === undefined) return null;
  const was = asOf === undefined ? "" : "was ";
  if (connections === 0) return <Badge tone="plain">{was}offline</Badge>;
  const online = connections === 1 ? "online" : `online on ${connections} devices`;
  return (
    <Badge tone="ok">
      {was}
      {online}
    </Badge>
  );
}
