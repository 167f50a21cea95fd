import { expect, test } from "bun:test";
import { bundleConsole } from "./bundle.ts";

test("the console names the command that runs this Herald", async () => {
  const textOf = async (command?: string) => {
    const files = await bundleConsole(command);
    return [...files.values()].map(({ bytes }) => new TextDecoder().decode(bytes.identity)).join("\n");
  };
  expect(await textOf()).toContain("npx herald");
  const ofBinary = await textOf("herald");
  expect(ofBinary).not.toContain("npx");
  expect(ofBinary).toContain(" listen --token");
});
