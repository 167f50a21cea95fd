const leastMs = 100; // between two frames: nobody reads faster, and each one lays out the page

/**
 * Calls `act` in an animation frame, at most ten times a second however often it is asked. A hidden tab gets no frames and needs
 * none.
 */
export function createFrame(act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let frame: number | undefined;
  let drawnAt = Number.NEGATIVE_INFINITY;

  const draw = () => {
    timer = undefined;
    frame = requestAnimationFrame((now) => {
      frame = undefined;
      drawnAt = now;
      act();
    });
  };
  return {
    ask() {
      if (timer !== undefined || frame !== undefined) return;
      const waitMs = drawnAt + leastMs - performance.now();
      if (waitMs <= 0) draw();
      else timer = setTimeout(draw, waitMs);
    },
    cancel() {
      clearTimeout(timer);
      if (frame !== undefined) cancelAnimationFrame(frame);
    },
  };
}
