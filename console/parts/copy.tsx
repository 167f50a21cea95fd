import { useRef, useState } from "preact/hooks";
import { useConsole } from "../state/context.ts";

type Copying = {
  /** What it is, for who hears it. */
  label: string;
  value: string;
  /** Selects the text for when the browser does not copy it. */
  select: () => void;
};

/** A button that copies a text. */
export function CopyButton({ label, value, select }: Copying) {
  const { announce } = useConsole();
  const [told, setTold] = useState<{ value: string; text: string }>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setTold({ value, text: "Copied" });
      announce(`${label} copied`);
    } catch {
      // Browsers offer no clipboard to pages without TLS, except on localhost.
      select();
      setTold({ value, text: "Press Ctrl+C" });
    }
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {told?.value === value ? told.text : "Copy"}
    </button>
  );
}

/** A secret that is shown only once, with a button that copies it. */
export function Secret({ label, value }: { label: string; value: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const select = () => {
    field.current?.focus();
    field.current?.select();
  };
  return (
    <div class="secret">
      <textarea ref={field} class="mono" readOnly rows={3} aria-label={label} value={value} />
      <CopyButton label={label} value={value} select={select} />
    </div>
  );
}
