/** What a check found: `ok`, a `warning` that can wait, or a `failure` that prevents work. */
export type Finding = {
  subject: string;
  state: "ok" | "warning" | "failure";
  /** What is so. */
  detail: string;
  /** What to do about it, unless it is `ok`. */
  advice?: string;
};

/** Creates a finding without advice. */
export function ok(subject: string, detail: string): Finding {
  return { subject, state: "ok", detail };
}

/** Creates a finding that can wait. */
export function warning(subject: string, detail: string, advice: string): Finding {
  return { subject, state: "warning", detail, advice };
}

/** Creates a finding that prevents work. */
export function failure(subject: string, detail: string, advice: string): Finding {
  return { subject, state: "failure", detail, advice };
}
