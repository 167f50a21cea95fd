import { expect, test } from "bun:test";
import { createGuard } from "../../lib/observing/guard.ts";
import { messageOf } from "../../store/testing/log-suite.ts";
import { observeCommits } from "./observe.ts";

test("a counter or trace that fails fails no send, and is reported", () => {
  const errors: unknown[] = [];
  const guard = createGuard((error) => errors.push(error));
  const mark = { node: "n", steadyMs: 1, wallMs: 1 };
  const broken = (): never => {
    throw new Error("no figures today");
  };
  const send = messageOf("o");
  const watch = { noteWrite: () => undefined, suspect: broken };
  const uncounted = observeCommits({ onCommit: broken }, undefined, guard, watch);
  uncounted.onFailure?.(new Error("the send failed"));
  expect(uncounted.onCommit([send], 1)(send)).toBeUndefined();
  const untraced = observeCommits({ onCommit: () => mark }, { onAppend: broken, onCommit: broken }, guard, watch);
  untraced.onAppend?.(send);
  expect(untraced.onCommit([send], 1)(send)).toEqual(mark);
  expect(errors.map(String)).toEqual(["Error: no figures today"]);
});
