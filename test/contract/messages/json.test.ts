import { describe, expect, test } from "bun:test";
import { nestedArrays, postText, requestText, sendX } from "../../harness/clients/payload.ts";
import { expectProblem, messageOf } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

async function room(): Promise<{ org: Organization; cid: string }> {
  const org = await createOrganization(herald());
  return { org, cid: await org.conversation(["alice"]) };
}

const post = (text: BodyInit, headers?: Record<string, string>) => postText(herald(), "/admin/message", text, headers);

describe("JSON of a request", () => {
  test("that cannot be read is malformed_json", async () => {
    const { org, cid } = await room();
    const whole = requestText(org, cid);
    const malformed = [
      "",
      " ",
      "{",
      whole.slice(0, -1),
      `${whole}x`,
      `${whole}${whole}`,
      `${whole},`,
      `{'a':1}`,
      `{"a":01}`,
      `{"a":.5}`,
      `{"a":1.}`,
      `{"a":+1}`,
      `{"a":NaN}`,
      `{"a":Infinity}`,
      `{"a":1,}`,
      `{"a":"\t"}`,
      `{"a":"\\x41"}`,
      `{"a":"\\u12"}`,
      `{"a":undefined}`,
      `{a:1}`,
      `/* */{}`,
      "tru",
      "\u00a0{}",
      `{"a":1}\0`,
    ];
    for (const text of malformed) {
      const answer = await post(text);
      expect({ text, status: answer.status }).toEqual({ text, status: 400 });
      expectProblem(answer, 400, "malformed_json");
    }
    expect(await org.history(cid)).toEqual([]);
  });

  test("that is not an object is refused", async () => {
    await room();
    for (const text of ["[]", "[{}]", "null", "true", "1", '"x"']) {
      const answer = await post(text);
      expect(answer.status).toBe(422);
      expect(["malformed_json", "bad_request", "invalid_request"]).toContain(answer.body.code);
    }
  });

  test("may nest 32 deep, including the outermost object, and no deeper", async () => {
    const { org, cid } = await room();
    // request, message, x: three levels around the arrays.
    expect((await sendX(org, cid, `{"k":${nestedArrays(29)}}`)).status).toBe(201);
    expectProblem(await sendX<unknown>(org, cid, `{"k":${nestedArrays(30)}}`), 422, "invalid_request");
    expect((await sendX(org, cid, `${'{"k":'.repeat(29)}{}${"}".repeat(29)}`)).status).toBe(201);
    expectProblem(await sendX<unknown>(org, cid, `${'{"k":'.repeat(30)}{}${"}".repeat(30)}`), 422, "invalid_request");
    expectProblem(await sendX<unknown>(org, cid, `{"k":${nestedArrays(200_000)}}`), 422, "invalid_request");
    expect((await sendX(org, cid, `{"k":"${"[".repeat(100)}","l":"\\"${"{".repeat(100)}"}`)).status).toBe(201);
  });

  test("that repeats a member is refused, at every level and in any spelling", async () => {
    const { org, cid } = await room();
    const duplicates = [
      requestText(org, cid, { top: ',"senderId":"alice"' }),
      requestText(org, cid, { top: ',"sender\\u0049d":"alice"' }),
      requestText(org, cid, { message: ',"body":"x"' }),
      requestText(org, cid, { message: ',"\\u0062ody":"y"' }),
      requestText(org, cid, { x: ',"k":1' }),
      requestText(org, cid, { x: ',"\\u006b":2' }),
      requestText(org, cid, { x: ',"deep":[[{"a":1,"b":{"c":1,"c":2}}]]' }),
      requestText(org, cid, { x: ',"👋":1,"\\ud83d\\udc4b":2' }),
      requestText(org, cid, { x: ',"":1,"":2' }),
      requestText(org, cid, { x: ',"\\/":1,"/":2' }),
      requestText(org, cid, { x: ',"__proto__":1,"__proto__":2' }),
    ];
    for (const text of duplicates) expectProblem(await post(text), 422, "invalid_request");
    expect(await org.history(cid)).toEqual([]);
    // The same name in different objects, or a similar name, is not a duplicate.
    expect(
      (await post(requestText(org, cid, { x: ',"a":{"k":{"k":1}},"b":[{"k":1},{"k":1}],"K":1,"k ":1' }))).status,
    ).toBe(201);
    expect((await post(requestText(org, cid, { x: ',"s":"\\"k\\":1,\\"k\\":2"' }))).status).toBe(201);
  });

  test("with a number that would change in transit is refused", async () => {
    const { org, cid } = await room();
    const changing = [
      "9007199254740993",
      "-9007199254740993",
      "123456789012345678901",
      "1e400",
      "-1e400",
      "1e-400",
      "0.1000000000000000055511151231257827",
      "3.14159265358979323846264338327950288",
      "9007199254740993.0",
      "0.30000000000000001",
    ];
    for (const value of changing) {
      const answer = await sendX<unknown>(org, cid, `{"k":${value}}`);
      expect({ value, status: answer.status }).toEqual({ value, status: 422 });
      expectProblem(answer, 422, "invalid_request");
      expect({ value, status: (await sendX<unknown>(org, cid, `{"k":[{"k":${value}}]}`)).status }).toEqual({
        value,
        status: 422,
      });
    }
    expect(await org.history(cid)).toEqual([]);
  });

  test("with any other number is accepted, and the value is delivered", async () => {
    const { org, cid } = await room();
    using alice = await org.socket("alice");
    const steady = [
      "0",
      "1",
      "-1",
      "1.0",
      "1e2",
      "1E2",
      "1e+2",
      "-0.5",
      "0.1",
      "0.30",
      "1e-7",
      "123456.789",
      "9007199254740991",
      "9007199254740992",
      "-9007199254740992",
      "5e-324",
      "2.2250738585072014e-308",
      "0.0",
      "0e10",
      "10.00e-1",
    ];
    for (const value of steady) {
      const answer = await sendX(org, cid, `{"k":${value}}`);
      expect({ value, status: answer.status }).toEqual({ value, status: 201 });
      const heard = messageOf(await alice.next()).x.k;
      expect({ value, heard }).toEqual({ value, heard: JSON.parse(value) as number });
    }
  });

  test("may contain any name in x, and unknown names nowhere else", async () => {
    const { org, cid } = await room();
    using alice = await org.socket("alice");
    using stream = await org.sse("alice");
    const x =
      '{"__proto__":{"polluted":true},"constructor":1,"toString":"t","hasOwnProperty":null,"length":3,"":0,"1":1}';
    expect((await sendX(org, cid, x)).status).toBe(201);
    for (const listener of [alice, stream]) {
      const heard = messageOf(await listener.next()).x;
      expect(Object.keys(heard).sort()).toEqual([
        "",
        "1",
        "__proto__",
        "constructor",
        "hasOwnProperty",
        "length",
        "toString",
      ]);
      expect(Object.getOwnPropertyDescriptor(heard, "__proto__")?.value).toEqual({ polluted: true });
      expect(heard.constructor).toBe(1 as never);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    for (const name of ["__proto__", "constructor", "toString", "\\u005f_proto__"]) {
      expectProblem(await post(requestText(org, cid, { message: `,"${name}":{}` })), 422, "invalid_request");
      expectProblem(await post(requestText(org, cid, { top: `,"${name}":{}` })), 422, "invalid_request");
    }
    expect(await org.history(cid)).toHaveLength(1);
  });

  test("comes with a JSON content type, with or without parameters", async () => {
    const { org, cid } = await room();
    const whole = requestText(org, cid);
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8",
      "Application/JSON",
    ]) {
      expect((await post(whole, { "Content-Type": type })).status).toBe(201);
    }
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/jsonp",
      "application/json5",
      "text/json2",
      "application/xml",
      "json",
    ]) {
      expectProblem(await post(whole, { "Content-Type": type }), 415, "unsupported_media_type");
    }
    const untyped = await herald().http("POST", "/admin/message", {
      body: Buffer.from(whole),
      headers: { "Admin-Api-Key": herald().key },
    });
    expectProblem(untyped, 415, "unsupported_media_type");
    expectProblem(
      await postText(herald(), "/admin/message/system", "{}", { "Content-Type": "text/plain" }),
      415,
      "unsupported_media_type",
    );
    expect(await org.history(cid)).toHaveLength(4);
  });
});
