/** Gives the focus to the first field that is wrong, once the page shows that. */
export function focusFirstMistake(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>("form [aria-invalid]")?.focus());
}
