import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

type DialogProps = {
  title: string;
  onClose: () => void;
  /** Why it does not close on Escape, which tells this then. Only a button inside closes such a dialog. */
  stays?: string;
  /** The class of its style, if it has one of its own. */
  kind?: string;
  children: ComponentChildren;
};

/** A modal dialog. The browser keeps the focus inside. Escape closes it unless it `stays`; its opener then has the focus again. */
export function Dialog({ title, onClose, stays, kind, children }: DialogProps) {
  const id = useId();
  const [isHeld, setIsHeld] = useState(false);
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  // At once: the event of a closed dialog comes later, and a key that opens it again may come between.
  const cancel = (event: Event) => {
    event.preventDefault();
    if (stays === undefined) onClose();
    else setIsHeld(true);
  };
  // A browser closes a dialog on the second Escape, whatever the page says to it.
  const closed = () => (stays === undefined ? onClose() : element.current?.showModal());
  return (
    <dialog ref={element} class={kind} aria-labelledby={id} onCancel={cancel} onClose={closed}>
      <h2 id={id}>{title}</h2>
      {children}
      {isHeld && (
        <p class="field-error" role="alert">
          {stays}
        </p>
      )}
    </dialog>
  );
}

type ConfirmProps = {
  title: string;
  verb: string;
  isBusy: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ComponentChildren;
};

/** Asks for confirmation of an action that cannot be undone. */
export function Confirm({ title, verb, isBusy, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={onConfirm}>
          {verb}
        </button>
      </div>
    </Dialog>
  );
}
