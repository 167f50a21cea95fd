import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

type DialogProps = { title: string; onClose: () => void; children: ComponentChildren };

/** A modal dialog. The browser keeps the focus inside, closes it on Escape, and then restores the focus. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
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
