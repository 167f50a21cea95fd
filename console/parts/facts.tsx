import type { ComponentChildren } from "preact";

/** Names with their values, side by side where there is room. */
export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

type FactProps = {
  name: string;
  isMono?: boolean;
  /** Where the value leads. */
  href?: string;
  children: ComponentChildren;
};

/** One name with its value. */
export function Fact({ name, isMono, href, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isMono === true ? "mono" : ""}>{href === undefined ? children : <a href={href}>{children}</a>}</dd>
    </div>
  );
}
