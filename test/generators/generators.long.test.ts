import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { $ } from "bun";
import { findGenerators } from "../harness/engines/generators.ts";
import { type Herald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

setDefaultTimeout(240_000);

const generators = await findGenerators();
const programs = join(import.meta.dir, "programs");
const modules = resolve(import.meta.dir, "../../node_modules");
type Document = Record<"paths" | "webhooks", Record<string, Record<string, { operationId: string }>>>;
const operationsOf = (described: Document["paths"]) =>
  Object.values(described).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));

/** The texts of all files below a folder. */
function textsIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")).join("\n");
}

describe.skipIf(generators === undefined)(
  "the OpenAPI document of a server, in a stock generator with its defaults,",
  () => {
    if (generators === undefined) return;
    const { openapiGenerator, javaLibraries, oapiCodegen, go, python } = generators;
    const folder = mkdtempSync(join(tmpdir(), "herald-clients-"));
    const document = join(folder, "openapi.json");
    let herald: Herald;
    let org: Organization;
    let calls: string[] = [];
    let posts: string[] = [];

    beforeAll(async () => {
      herald = await startHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });
      org = await createOrganization(herald);
      await org.conversation(["alice", "bob"], "welcome");
      const described: Document = await (await fetch(`${herald.url}/openapi.json`)).json();
      await Bun.write(document, JSON.stringify(described));
      calls = operationsOf(described.paths);
      posts = operationsOf(described.webhooks);
    });
    afterAll(async () => {
      await herald[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    });

    /** Generates a client. Expects that the generator replaces no file by another, and renames nothing. */
    async function generate(generator: string, place: string): Promise<void> {
      const { stdout, stderr } =
        await $`java -jar ${openapiGenerator} generate -i ${document} -g ${generator} -o ${join(folder, place)}`.quiet();
      const told = `${stdout}${stderr}`;
      expect(told.split("\n").filter((line) => /Duplicate|cannot be used as|ERROR/.test(line))).toEqual([]);
    }

    /** The operations that a generated text lacks, whatever the case in which the language writes their names. */
    function missingIn(text: string, operations = [...calls, ...posts]): string[] {
      const words =
        text
          .replaceAll("_", "")
          .toLowerCase()
          .match(/[a-z]+/g) ?? [];
      const names = new Set(words.map((word) => word.replace(/async$/, "")));
      return operations.filter((name) => !names.has(name.toLowerCase()));
    }

    /** Runs a program with a client: it sends, creates a webhook and reads. Expects that its message is heard. */
    async function expectHeard(language: string, run: (env: Record<string, string | undefined>) => Promise<unknown>) {
      using bob = await org.socket("bob");
      const env = { ...process.env, URL: herald.url, KEY: herald.key, ORG: org.id };
      expect(`${await run(env)}`).toBe(`sent from-${language.toLowerCase()}\nsecret whsec_\nuser null\n`);
      expect((await bob.next()).message?.body).toBe(`Hello from ${language}`);
    }

    test("openapi-generator for Java, has every operation, compiles, and sends", async () => {
      await generate("java", "java");
      const client = join(folder, "java/src/main/java");
      expect(missingIn(textsIn(join(client, "org/openapitools/client/api")))).toEqual([]);
      const sources = readdirSync(client, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.endsWith(".java"),
      );
      const built = join(folder, "java-built");
      const path = [built, ...readdirSync(javaLibraries).map((name) => join(javaLibraries, name))].join(delimiter);
      const files = [...sources.map((name) => join(client, name)), join(programs, "Main.java")];
      await $`javac -nowarn -proc:none -d ${built} -cp ${path} ${files}`.quiet();
      await expectHeard("Java", (env) => $`java -cp ${path} Main`.env(env).text());
    });

    test("openapi-generator for TypeScript, has every operation, compiles strictly, and sends", async () => {
      await generate("typescript-fetch", "typescript/client");
      const place = join(folder, "typescript");
      expect(missingIn(textsIn(join(place, "client/apis")))).toEqual([]);
      copyFileSync(join(programs, "main.ts.txt"), join(place, "main.ts")); // whose imports are generated
      copyFileSync(join(programs, "tsconfig.json"), join(place, "tsconfig.json"));
      await $`node ${modules}/@typescript/native/bin/tsc -p ${place} --typeRoots ${modules}/@types`.quiet();
      await expectHeard("TypeScript", (env) => $`node ${place}/built/main.js`.env(env).text());
    });

    test("oapi-codegen for Go, has every operation, compiles, and sends", async () => {
      const place = join(folder, "go");
      mkdirSync(place);
      for (const name of ["main.go", "go.mod", "go.sum"]) copyFileSync(join(programs, name), join(place, name));
      await $`${oapiCodegen} -package main -o client.gen.go ${document}`.cwd(place).quiet();
      expect(missingIn(readFileSync(join(place, "client.gen.go"), "utf8"))).toEqual([]);
      await $`${go} vet .`.cwd(place).quiet();
      await $`${go} build -o client .`.cwd(place).quiet();
      await expectHeard("Go", (env) => $`${place}/client`.env(env).text());
    });

    test("openapi-python-client, has every operation but those of lines, and sends", async () => {
      const place = join(folder, "python");
      const env = { ...process.env, PATH: `${dirname(python)}${delimiter}${process.env.PATH}` };
      const { stdout, stderr } =
        await $`${python} -m openapi_python_client generate --path ${document} --output-path ${place}`.env(env).quiet();
      // It knows no lines of JSON: it leaves out what takes only them, and the body of what takes or answers with them, too.
      const [, ...warnings] = `${stdout}${stderr}`.split(/^WARNING parsing /m);
      expect(warnings.map((warning) => warning.split(" within ")[0])).toEqual([
        "PUT /admin/message/append",
        "POST /admin/message/batch",
        "POST /admin/organizations/{org}/import",
        "GET /admin/organizations/{org}/export",
        "GET /admin/organizations/{org}/users/{uid}/export",
      ]);
      expect(`${stdout}${stderr}`).not.toContain("Unable to process");
      const text = readdirSync(join(place, "herald_client/api"), { recursive: true, encoding: "utf8" }).join("\n");
      expect(missingIn(text, calls)).toEqual(["sendBatch", "importLines"]);
      await expectHeard("Python", (variables) =>
        $`${python} ${join(programs, "main.py")}`.env({ ...variables, PYTHONPATH: place }).text(),
      );
    });

    test.each([
      ["Kotlin", "kotlin", "src/main/kotlin/org/openapitools/client/apis"],
      ["C#", "csharp", "src/Org.OpenAPITools/Api"],
    ])("openapi-generator for %s, has every operation", async (_, generator, apis) => {
      await generate(generator, generator);
      expect(missingIn(textsIn(join(folder, generator, apis)))).toEqual([]);
    });
  },
);
