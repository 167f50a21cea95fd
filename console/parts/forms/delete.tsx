import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useConsole } from "../../state/context.ts";
import { useAction } from "../../state/loading.ts";
import { Problem } from "../problem.tsx";
import { Confirm } from "./dialog.tsx";
import { TextField } from "./field.tsx";

type Props = {
  id: string;
  /** What becomes of it. */
  children: ComponentChildren;
  /** Whether the id has to be typed, because much is lost. */
  isTyped?: boolean;
  act: () => Promise<void>;
  onDeleted: () => void;
};

/** A button that deletes something, once that is confirmed. */
export function DeleteButton({ id, children, isTyped = false, act, onDeleted }: Props) {
  const { announce } = useConsole();
  const [isAsking, setIsAsking] = useState(false);
  const [typed, setTyped] = useState("");
  const removal = useAction(async () => {
    await act();
    announce(`${id} is deleted`);
    onDeleted();
  });
  const ask = () => {
    setTyped("");
    removal.clear();
    setIsAsking(true);
  };
  return (
    <>
      <button type="button" class="small danger" onClick={ask}>
        Delete
      </button>
      {isAsking && (
        <Confirm
          title={`Delete ${id}?`}
          verb="Delete"
          isBusy={removal.isBusy || (isTyped && typed !== id)}
          onConfirm={() => removal.run()}
          onClose={() => setIsAsking(false)}
        >
          {children}
          {isTyped && (
            <TextField
              label="To confirm, type the id"
              hint={<code>{id}</code>}
              value={typed}
              onChange={setTyped}
              isId
            />
          )}
          {removal.error !== undefined && <Problem error={removal.error} />}
        </Confirm>
      )}
    </>
  );
}
