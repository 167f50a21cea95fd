import { useState } from "preact/hooks";
import type { Call } from "../../state/code/actions.ts";
import { useConsole } from "../../state/context.ts";
import { TextField } from "../forms/field.tsx";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useForm } from "../forms/use-form.ts";

type Props = {
  id: string;
  name: string | null;
  /** Reads it first: a `PUT` would create what was deleted meanwhile. */
  read: () => Promise<unknown>;
  put: (fields: { name: string | null }) => Promise<unknown>;
  /** What it calls. */
  code: Pick<Call, "action" | "names">;
  onChange: () => void;
};

const pointers = ["/name"] as const;

/** A button that changes the name of a user or a conversation, or removes it. */
export function ChangeNameButton({ id, name, ...rest }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" class="small" onClick={() => setIsOpen(true)}>
        Change name
      </button>
      {isOpen && <ChangeName id={id} name={name} {...rest} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function ChangeName({ id, name: before, read, put, code, onChange, onClose }: Props & { onClose: () => void }) {
  const { announce } = useConsole();
  const [name, setName] = useState(before ?? "");
  const fields = { name: name === "" ? null : name };
  const form = useForm({
    pointers,
    mistakes: {},
    act: async () => {
      await read();
      await put(fields);
      announce("Saved");
      onClose();
      onChange();
    },
  });
  return (
    <FormDialog
      title={`Change the name of ${id}`}
      verb="Save"
      form={form}
      call={{ ...code, body: fields }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Leave it empty to remove the name."
        value={name}
        onChange={setName}
        error={form.errorOf("/name")}
      />
    </FormDialog>
  );
}
