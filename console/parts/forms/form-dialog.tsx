import type { ComponentChildren } from "preact";
import type { Call } from "../../state/code/actions.ts";
import { Code } from "../code/code.tsx";
import { Problem } from "../problem.tsx";
import { Dialog } from "./dialog.tsx";
import { Fold } from "./fold.tsx";
import type { Form } from "./use-form.ts";

type Props = {
  title: string;
  /** What the button that sends the form says. */
  verb: string;
  form: Pick<Form<string>, "isBusy" | "error" | "isToldAtFields" | "submit">;
  /** The call that it makes, which it also shows as code. */
  call?: Call;
  onClose: () => void;
  children: ComponentChildren;
};

/** A dialog with a form that calls the API. What has failed stands above its buttons. */
export function FormDialog({ title, verb, form, call, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" noValidate onSubmit={form.submit}>
        {children}
        {call !== undefined && (
          <Fold summary="The same as code">
            <Code calls={[call]} />
          </Fold>
        )}
        {form.error !== undefined && <Problem error={form.error} isToldAtFields={form.isToldAtFields} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={form.isBusy}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
