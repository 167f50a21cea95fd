import { describe, expect, test } from "bun:test";
import { findJsonFault } from "./json-position.ts";

describe("findJsonFault", () => {
  test.each([
    ["{", 1, 2, "a name in double quotes"],
    ['{"a": 1,}', 1, 9, "a name in double quotes"],
    ['{"a" 1}', 1, 6, "a colon"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma or }"],
    ['{"a": [1, 2}', 1, 12, "a comma or ]"],
    ['{"a": tru}', 1, 7, "a value"],
    ['{"a": 01}', 1, 8, "a comma or }"],
    ['{"a": "b}', 1, 10, 'a closing "'],
    ['{"a": "b\\x"}', 1, 9, "another character in the text"],
    ["{'a': 1}", 1, 2, "a name in double quotes"],
    ["{} {}", 1, 4, "the end"],
    ["", 1, 1, "a value"],
  ])("says of %j that line %i, column %i needs %s", (text, line, column, expected) => {
    expect(findJsonFault(text)).toMatchObject({ line, column, expected });
  });

  test.each(["{}", "[]", ' {"a":[1,-2.5e+3,true,false,null,"\\u00e9\\n",{"b":{}}]}\n', '"text"', "0", '{"👋":"🙂"}'])(
    "finds nothing in %j",
    (text) => {
      expect(findJsonFault(text)).toBeUndefined();
      JSON.parse(text);
    },
  );

  test("agrees with JSON.parse on whatever is cut out of, or put into, a text", () => {
    const whole = '{"a": [1, -2.5e3, true, null, "x\\n\\u0041"], "b": {"c": ""}}';
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    for (let index = 0; index <= whole.length; index++) {
      for (const put of ["", '"', "{", "}", "[", "]", ",", ":", "0", ".", "e", "-", "\\", "\n", "\u0001", "t"]) {
        for (const cut of [0, 1]) {
          const text = whole.slice(0, index) + put + whole.slice(index + cut);
          expect([text, findJsonFault(text) === undefined]).toEqual([text, isJson(text)]);
        }
      }
    }
  });

  test("takes no more of the stack than it needs, however deep the text", () => {
    expect(findJsonFault("[".repeat(100_000))?.expected).toBe("less nesting");
  });
});
