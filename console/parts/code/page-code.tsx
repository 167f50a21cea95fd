import { useState } from "preact/hooks";
import { callsOf } from "../../state/code/page-calls.ts";
import { useConsole } from "../../state/context.ts";
import { Dialog } from "../forms/dialog.tsx";
import { Code } from "./code.tsx";

/** A button that shows how a program reads what the page shows; nothing, if no single call does. */
export function PageCode() {
  const { route, org } = useConsole();
  const [isOpen, setIsOpen] = useState(false);
  const [first, ...others] = callsOf(route, org);
  if (first === undefined) return null;
  const close = () => setIsOpen(false);
  return (
    <>
      <button type="button" class="small" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        <span aria-hidden="true">{"</>"}</span> Code
      </button>
      {isOpen && (
        <Dialog title="The same as code" onClose={close} kind="wide">
          <Code calls={[first, ...others]}>
            <button type="button" onClick={close}>
              Close
            </button>
          </Code>
        </Dialog>
      )}
    </>
  );
}
