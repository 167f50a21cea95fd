import { useState } from "preact/hooks";
import { useConsole } from "../../state/context.ts";
import { DeleteButton } from "../forms/delete.tsx";

/** A button that deletes a user, and on request everything that the user wrote. */
export function DeleteUser({ org, uid }: { org: string; uid: string }) {
  const { client, link } = useConsole();
  const [isErasing, setIsErasing] = useState(false);
  return (
    <DeleteButton
      id={uid}
      act={() => client.deleteUser(org, uid, isErasing ? { messages: "erase" } : {})}
      onDeleted={() => {
        location.hash = link("users");
      }}
    >
      <p>The user is removed from all conversations, and signed out everywhere. You cannot undo this.</p>
      <div class="checks">
        <label>
          <input type="checkbox" checked={isErasing} onChange={() => setIsErasing(!isErasing)} />
          <span>
            Erase what the user wrote{" "}
            <span class="fine">Otherwise the user's messages remain. It can take minutes.</span>
          </span>
        </label>
      </div>
    </DeleteButton>
  );
}
