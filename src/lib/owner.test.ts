import { describe, expect, test } from "bun:test";
import { createOwner, onAbort } from "./owner.ts";

function setUp() {
  const errors: unknown[] = [];
  const released: string[] = [];
  return { owner: createOwner((error) => errors.push(error)), errors, released };
}

describe("an owner", () => {
  test("gives back what it holds when it closes, the last first, and once", () => {
    const { owner, released } = setUp();
    owner.hold(() => released.push("place"));
    owner.hold(() => released.push("timer"));
    expect(owner.isClosed).toBe(false);
    owner.close();
    owner.close();
    expect(released).toEqual(["timer", "place"]);
    expect(owner.isClosed).toBe(true);
  });

  test("gives back at once what it is handed after its close", () => {
    const { owner, released } = setUp();
    owner.close();
    owner.hold(() => released.push("late"));
    expect(released).toEqual(["late"]);
  });

  test("gives back what it is handed while it closes", () => {
    const { owner, released } = setUp();
    owner.hold(() => owner.hold(() => released.push("within")));
    owner.close();
    expect(released).toEqual(["within"]);
  });

  test("does not give back what was let go of, before its close or in it", () => {
    const { owner, released } = setUp();
    const letGo = owner.hold(() => released.push("let go"));
    const letGoLater = owner.hold(() => released.push("let go by another"));
    owner.hold(letGoLater);
    expect(owner.size).toBe(3);
    letGo();
    owner.close();
    letGo();
    expect(released).toEqual([]);
    expect(owner.size).toBe(0);
  });

  test("gives back the rest when one release throws, before its close and after", () => {
    const { owner, released, errors } = setUp();
    const broken = () => {
      throw new Error("broken");
    };
    owner.hold(() => released.push("first"));
    owner.hold(broken);
    owner.close();
    owner.hold(broken);
    expect(released).toEqual(["first"]);
    expect(errors).toEqual([new Error("broken"), new Error("broken")]);
  });
});

test("who waits for an abort is called when it comes, and when it has come already", () => {
  const abort = new AbortController();
  let calls = 0;
  onAbort(abort.signal, () => calls++);
  expect(calls).toBe(0);
  abort.abort();
  onAbort(abort.signal, () => calls++);
  expect(calls).toBe(2);
});
