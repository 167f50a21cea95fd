import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Prose } from "../prose.tsx";

type Frame = {
  label: string;
  hint?: ComponentChildren;
  /** What is wrong with the value. Shown next to the field and announced with it. */
  error?: string | undefined;
  isOptional?: boolean;
};

type Control = { id: string; "aria-describedby"?: string; "aria-invalid"?: "true" };

/** A control with its label, hint and error. */
export function Field({
  label,
  hint,
  error,
  isOptional,
  children,
}: Frame & { children: (control: Control) => ComponentChildren }) {
  const id = useId();
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(error === undefined ? [] : [`${id}-error`])];
  const control: Control = {
    id,
    ...(described.length > 0 && { "aria-describedby": described.join(" ") }),
    ...(error !== undefined && { "aria-invalid": "true" }),
  };
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isOptional === true && <span class="fine"> (optional)</span>}
      </label>
      {children(control)}
      {hint !== undefined && (
        <p class="fine" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          <Prose text={error} />
        </p>
      )}
    </div>
  );
}

type TextProps = Frame & {
  value: string;
  onChange: (value: string) => void;
  suggestions?: readonly string[];
  /** For identifiers: turns off spell checking and capitalization. */
  isId?: boolean;
  inputmode?: "numeric";
  placeholder?: string;
  required?: boolean;
};

/** A single-line field. */
export function TextField({
  value,
  onChange,
  suggestions = [],
  isId,
  label,
  hint,
  error,
  isOptional,
  ...rest
}: TextProps) {
  const list = useId();
  return (
    <Field label={label} hint={hint} error={error} isOptional={isOptional ?? false}>
      {(control) => (
        <>
          <input
            autocomplete="off"
            {...(isId === true && { spellcheck: false, autocapitalize: "none", class: "mono" })}
            type="text"
            {...rest}
            {...control}
            {...(suggestions.length > 0 && { list })}
            value={value}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
          {suggestions.length > 0 && (
            <datalist id={list}>
              {suggestions.map((suggestion) => (
                <option key={suggestion} value={suggestion} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

type AreaProps = Frame & { value: string; onChange: (value: string) => void; rows?: number; isId?: boolean };

/** A multi-line field. */
export function AreaField({ value, onChange, rows = 3, isId, ...frame }: AreaProps) {
  return (
    <Field {...frame}>
      {(control) => (
        <textarea
          {...control}
          rows={rows}
          value={value}
          {...(isId === true && { spellcheck: false, autocapitalize: "none", class: "mono" })}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

type ChoiceProps<Value extends string> = Frame & {
  value: Value;
  onChange: (value: Value) => void;
  options: readonly (readonly [value: Value, label: string])[];
};

/** A choice of one option. */
export function ChoiceField<Value extends string>({ value, onChange, options, ...frame }: ChoiceProps<Value>) {
  function choose(chosen: string): void {
    const option = options.find(([one]) => one === chosen);
    if (option !== undefined) onChange(option[0]);
  }

  return (
    <Field {...frame}>
      {(control) => (
        <select {...control} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {options.map(([option, label]) => (
            <option key={option} value={option}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

type ChecksProps<Value extends string> = {
  label: string;
  options: readonly (readonly [value: Value, meaning: string])[];
  chosen: readonly Value[];
  onToggle: (value: Value) => void;
  error: string | undefined;
};

/** A choice of any of several values. */
export function ChecksField<Value extends string>({ label, options, chosen, onToggle, error }: ChecksProps<Value>) {
  return (
    <fieldset class="checks">
      <legend>{label}</legend>
      {options.map(([value, meaning]) => (
        <label key={value}>
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => onToggle(value)} />
          <span>
            <code>{value}</code> <span class="fine">{meaning}</span>
          </span>
        </label>
      ))}
      {error !== undefined && (
        <p class="field-error" role="alert">
          <Prose text={error} />
        </p>
      )}
    </fieldset>
  );
}
