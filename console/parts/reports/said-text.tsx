import type { Said } from "../../state/why/causes.ts";
import { Time } from "../time.tsx";

/** A text in which times stand between words. */
export function SaidText({ says }: { says: Said }) {
  return <>{says.map((part) => (typeof part === "string" ? part : <Time key={part.at} at={part.at} />))}</>;
}
