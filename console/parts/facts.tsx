import type { ComponentChildren } from "preact";

/** Names with their values, side by side where there is room. */
export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

/** One name with its value. */
export function Fact({ name, isMono, children }: { name: string; isMono?: boolean; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isMono === true ? "mono" : ""}>{children}</dd>
    </div>
  );
}
