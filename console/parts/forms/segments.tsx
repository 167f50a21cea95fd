import { useId } from "preact/hooks";

type Props<Value extends string> = {
  legend: string;
  /** Whether the legend is only for screen readers, because the options say it all. */
  isQuiet?: boolean;
  value: Value;
  options: readonly (readonly [value: Value, label: string])[];
  onChange: (value: Value) => void;
};

/** A choice of one of a few options, side by side. */
export function Segments<Value extends string>({ legend, isQuiet, value, options, onChange }: Props<Value>) {
  const name = useId();
  return (
    <fieldset class="field">
      <legend class={isQuiet === true ? "visually-hidden" : ""}>{legend}</legend>
      <div class="segments">
        {options.map(([option, label]) => (
          <label key={option}>
            <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
