import { useRef } from "preact/hooks";
import { Field } from "./field.tsx";

type Props = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  fault: { detail: string; index: number | undefined } | undefined;
};

/** An editor for a JSON object. Shows the line and column of an error and jumps to it. Tab leaves the editor, as in any field. */
export function JsonEditor({ label, value, onChange, fault }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const goThere = (index: number) => {
    area.current?.focus();
    area.current?.setSelectionRange(index, Math.min(index + 1, value.length));
  };
  const format = () => onChange(JSON.stringify(JSON.parse(value), undefined, 2));
  const lines = Math.min(16, Math.max(4, value.split("\n").length + 1));
  return (
    <div class="json-editor">
      <Field label={label} isOptional hint="A JSON object, which recipients get unchanged." error={fault?.detail}>
        {(control) => (
          <textarea
            {...control}
            ref={area}
            class="mono"
            rows={lines}
            spellcheck={false}
            autocapitalize="none"
            value={value}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
        )}
      </Field>
      <div class="tools">
        {fault?.index !== undefined && (
          <button type="button" class="link" onClick={() => goThere(fault.index ?? 0)}>
            Go to the error
          </button>
        )}
        {fault === undefined && value.trim() !== "" && (
          <button type="button" class="link" onClick={format}>
            Format
          </button>
        )}
      </div>
    </div>
  );
}
