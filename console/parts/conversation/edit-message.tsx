import { useState } from "preact/hooks";
import type { Message } from "../../../sdk/types.ts";
import { useConsole, useOrganization } from "../../state/context.ts";
import { useAction } from "../../state/loading.ts";
import { Dialog } from "../forms/dialog.tsx";
import { AreaField } from "../forms/field.tsx";
import { Problem } from "../problem.tsx";

type Props = { message: Message; onEdited: () => void; onClose: () => void };

/** Asks for the new text of a message. */
export function EditMessage({ message, onEdited, onClose }: Props) {
  const { client, announce } = useConsole();
  const organizationId = useOrganization();
  const { _id: id, from: senderId, attachments, x } = message;
  const [body, setBody] = useState(message.body);
  const save = useAction(async () => {
    await client.editMessage({ organizationId, senderId, messageEdit: { id, body } });
    announce("Edited");
    onEdited();
    onClose();
  });
  const isEmpty = body === "" && attachments.length === 0;
  const stays = [
    ...(Object.keys(x).length > 0 ? ["its custom parameters"] : []),
    ...(attachments.length > 0 ? ["its attachments"] : []),
  ];
  return (
    <Dialog title={`Edit the message of ${senderId}`} onClose={onClose}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save.run();
        }}
      >
        <AreaField
          label="Text"
          hint={`Everyone who takes part hears the new text.${stays.length > 0 ? ` The message keeps ${stays.join(" and ")}.` : ""}`}
          error={isEmpty ? "A message without attachments needs a text." : undefined}
          rows={4}
          value={body}
          onChange={setBody}
        />
        {save.error !== undefined && <Problem error={save.error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={save.isBusy || isEmpty || body === message.body}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
