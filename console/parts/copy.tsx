import { useRef, useState } from "preact/hooks";
import { useConsole } from "../state/context.ts";

/** A secret that is shown only once, with a button that copies it. */
export function Secret({ label, value }: { label: string; value: string }) {
  const { announce } = useConsole();
  const field = useRef<HTMLTextAreaElement>(null);
  const [told, setTold] = useState("Copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setTold("Copied");
      announce(`${label} copied`);
    } catch {
      // Browsers offer no clipboard to pages without TLS, except on localhost.
      field.current?.focus();
      field.current?.select();
      setTold("Press Ctrl+C");
    }
  };
  return (
    <div class="secret">
      <textarea ref={field} class="mono" readOnly rows={3} aria-label={label} value={value} />
      <button type="button" onClick={() => void copy()}>
        {told}
      </button>
    </div>
  );
}
