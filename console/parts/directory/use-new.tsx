import { useState } from "preact/hooks";
import { linesOf } from "../../state/composing/draft.ts";
import { useConsole } from "../../state/context.ts";
import { useNewForm } from "../../state/use-new-form.ts";
import { AreaField, TextField } from "../forms/field.tsx";
import { FormDialog } from "../forms/form-dialog.tsx";
import { requireNew, useForm } from "../forms/use-form.ts";

type Fields = { name?: string; participants?: string[] };

const actions = { user: "putUser", conversation: "putConversation", organization: "putOrganization" } as const;

type New = {
  noun: "user" | "conversation" | "organization";
  /** Where the id stands in errors: it is part of the address. */
  idPointer: "/uid" | "/cid" | "/org";
  hasParticipants?: boolean;
  read: (id: string) => Promise<unknown>;
  put: (id: string, fields: Fields) => Promise<unknown>;
};

type Inputs = New & {
  /** Whether the key may create one. */
  isAllowed: boolean;
  hrefOf: (id: string) => string;
  onMade: () => void;
};

/** A button that opens a form, and `outcome`: the form, and then a link to what was created, which may be further down in the list. */
export function useNew({ isAllowed, hrefOf, onMade, ...form }: Inputs) {
  const [isAsked, setIsMaking] = useNewForm(`${form.noun}s`);
  const isMaking = isAsked && isAllowed;
  const [made, setMade] = useState<string>();
  const end = (id: string) => {
    setIsMaking(false);
    setMade(id);
    onMade();
  };
  return {
    button: isAllowed && (
      <button type="button" class="primary" onClick={() => setIsMaking(true)}>
        New {form.noun}
      </button>
    ),
    outcome: (
      <>
        {isMaking && <NewForm {...form} onMade={end} onClose={() => setIsMaking(false)} />}
        {made !== undefined && (
          <p class="notice ok" role="status">
            <span>
              <a class="mono" href={hrefOf(made)}>
                {made}
              </a>{" "}
              is created.
            </span>
          </p>
        )}
      </>
    ),
  };
}

type FormProps = New & { onMade: (id: string) => void; onClose: () => void };

function NewForm({ noun, idPointer, hasParticipants = false, read, put, onMade, onClose }: FormProps) {
  const { org } = useConsole();
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [participants, setParticipants] = useState("");
  const fields = {
    ...(name !== "" && { name }),
    ...(hasParticipants && { participants: linesOf(participants) }),
  };
  const names = { ...(org !== undefined && { org }), [idPointer.slice(1)]: id };
  const form = useForm<typeof idPointer | "/name" | "/participants">({
    pointers: [idPointer, "/name", "/participants"],
    mistakes: id === "" ? { [idPointer]: `Enter an id for the ${noun}.` } : {},
    act: async () => {
      await requireNew(read(id), { pointer: idPointer, detail: `Another ${noun} has this id.` });
      await put(id, fields);
      onMade(id);
    },
  });
  return (
    <FormDialog
      title={`New ${noun}`}
      verb={`Create the ${noun}`}
      form={form}
      call={{ action: actions[noun], names, body: fields }}
      onClose={onClose}
    >
      <TextField
        label="Id"
        hint="It cannot be changed."
        value={id}
        onChange={setId}
        error={form.errorOf(idPointer)}
        isId
      />
      <TextField label="Name" isOptional value={name} onChange={setName} error={form.errorOf("/name")} />
      {hasParticipants && (
        <AreaField
          label="Participants"
          isOptional
          hint="One user per line. Unknown users are created."
          rows={4}
          value={participants}
          onChange={setParticipants}
          error={form.errorOf("/participants")}
          isId
        />
      )}
    </FormDialog>
  );
}
