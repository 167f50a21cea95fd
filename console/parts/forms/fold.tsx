import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Props = {
  summary: string;
  /** Whether a field in it is wrong: it then opens, so that the field can be seen and focused. */
  isWrong?: boolean;
  children: ComponentChildren;
};

/** Fields that few people need, folded away. */
export function Fold({ summary, isWrong = false, children }: Props) {
  const box = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (isWrong && box.current !== null) box.current.open = true;
  }, [isWrong]);
  return (
    <details ref={box}>
      <summary>{summary}</summary>
      <div class="stack">{children}</div>
    </details>
  );
}
