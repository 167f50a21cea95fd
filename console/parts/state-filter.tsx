import type { Paged } from "../state/loading.ts";
import { ChoiceField } from "./forms/field.tsx";

type Props<State extends string> = {
  state: State;
  choices: readonly (readonly [state: State, label: string])[];
  onChange: (state: State) => void;
  list: Pick<Paged<unknown>, "isLoading" | "reload">;
};

/** What stands above a list of what is in some state: the choice of the state, and a button that reads the list again. */
export function StateFilter<State extends string>({ state, choices, onChange, list }: Props<State>) {
  return (
    <div class="filters is-one">
      <ChoiceField label="State" value={state} options={choices} onChange={onChange} />
      <button type="button" disabled={list.isLoading} onClick={list.reload}>
        Refresh
      </button>
    </div>
  );
}
