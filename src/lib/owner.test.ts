import { describe, expect, test } from "bun:test";
import { createOwner, onAbort } from "./owner.ts";

function setUp() {
  const errors: unknown[] = [];
  const released: string[] = [];
  return { owner: createOwner((error) => errors.push(error)), errors, released };
}

describe("an owner", () => {
  test("releases what it holds when it closes, last first and once", () => {
    const { owner, released } = setUp();
    owner.hold(() => released.push("place"));
    owner.hold(() => released.push("timer"));
    expect(owner.isClosed).toBe(false);
    owner.close();
    owner.close();
    expect(released).toEqual(["timer", "place"]);
    expect(owner.isClosed).toBe(true);
  });

  test("releases at once what it is given after its close", () => {
    const { owner, released } = setUp();
    owner.close();
    owner.hold(() => released.push("late"));
    expect(released).toEqual(["late"]);
  });

  test("releases what it is given while it closes", () => {
    const { owner, released } = setUp();
    owner.hold(() => owner.hold(() => released.push("within")));
    owner.close();
    expect(released).toEqual(["within"]);
  });

  test("does not release what was removed, before its close or during it", () => {
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

  test("releases the rest if one release throws, before its close and after", () => {
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

test("an abort handler is called when the signal aborts, and at once if it has", () => {
  const abort = new AbortController();
  let calls = 0;
  onAbort(abort.signal, () => calls++);
  expect(calls).toBe(0);
  abort.abort();
  onAbort(abort.signal, () => calls++);
  expect(calls).toBe(2);
});
