import { useState } from "preact/hooks";
import type { Message } from "../../../sdk/types.ts";
import { useConsole, useOrganization } from "../../state/context.ts";
import { useAction } from "../../state/loading.ts";
import { Confirm } from "../forms/dialog.tsx";
import { TextField } from "../forms/field.tsx";
import { Problem } from "../problem.tsx";

type Props = { message: Message; suggestions: readonly string[]; onRecalled: () => void; onClose: () => void };

/** Asks whether to take back a message, and in whose name. */
export function RecallMessage({ message, suggestions, onRecalled, onClose }: Props) {
  const { client, me, announce } = useConsole();
  const organizationId = useOrganization();
  const { _id, cid, from } = message;
  const mayBeAuthor = me.allowed_senders === null || me.allowed_senders.includes(from);
  const [senderId, setSenderId] = useState(mayBeAuthor ? from : (me.allowed_senders?.[0] ?? from));
  const recall = useAction(async () => {
    await client.recallMessages({ organizationId, senderId, messageDelete: { cid, ids: [_id], type: "all" } });
    announce("Taken back");
    onRecalled();
    onClose();
  });
  return (
    <Confirm
      title={`Take back the message of ${from}?`}
      verb="Take back"
      isBusy={recall.isBusy || senderId === ""}
      onConfirm={() => recall.run()}
      onClose={onClose}
    >
      <p>
        Its text is removed from Herald, and everyone who takes part hears that it is gone. Nobody can bring it back.
        Devices that already show it are asked to remove it.
      </p>
      <TextField
        label="Taken back by (user)"
        hint="Someone who takes part in the conversation."
        error={senderId === "" ? "Enter the user who takes it back." : undefined}
        value={senderId}
        onChange={setSenderId}
        suggestions={me.allowed_senders ?? suggestions}
        isId
      />
      {recall.error !== undefined && <Problem error={recall.error} />}
    </Confirm>
  );
}
