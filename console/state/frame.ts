/** Calls `act` in the next animation frame, once however often it is asked. A hidden tab gets no frames and needs none. */
export function createFrame(act: () => void) {
  let frame: number | undefined;
  return {
    ask() {
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        act();
      });
    },
    cancel() {
      if (frame !== undefined) cancelAnimationFrame(frame);
    },
  };
}
