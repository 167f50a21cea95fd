import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Secret } from "../copy.tsx";
import { Dialog } from "./dialog.tsx";

type Props = {
  title: string;
  /** What the secret is, within a sentence: `key`. */
  noun: string;
  /** The name of the field. */
  label: string;
  value: string;
  onClose: () => void;
  children?: ComponentChildren;
};

/** Shows a secret this only time, until the reader says that it is saved. */
export function SaveSecret({ title, noun, label, value, onClose, children }: Props) {
  useEffect(() => {
    const ask = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, []);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      stays={`Save the ${noun}, then press I have saved it. Nobody can see it again.`}
    >
      <p>Save the {noun} now. It is not shown again.</p>
      <Secret label={label} value={value} />
      {children}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have saved it
        </button>
      </div>
    </Dialog>
  );
}
