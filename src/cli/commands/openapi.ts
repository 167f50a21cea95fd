import type { Command } from "commander";
import type { Output } from "../output/output.ts";

/** `herald openapi`. */
export function addOpenapiCommand(program: Command, output: Output): void {
  program
    .command("openapi")
    .description("print the OpenAPI document of the HTTP API, or the AsyncAPI document of the real-time API")
    .option("--asyncapi", "print the AsyncAPI document")
    .option("--json", "print the document on one line")
    .addHelpText("after", "\nExamples:\n  herald openapi > openapi.json\n  herald openapi --asyncapi > asyncapi.json")
    .action(async ({ asyncapi, json }: { asyncapi?: true; json?: true }) => {
      const document = asyncapi ? await asyncapiDocument() : await openapiDocument();
      if (json) output.json(document);
      else output.result(JSON.stringify(document, undefined, 2));
    });
}

// Loaded on demand: loading the schemas takes longer than running other commands.
async function openapiDocument(): Promise<unknown> {
  const { openApiDocument } = await import("../../contract/documents/openapi.ts");
  return openApiDocument();
}

async function asyncapiDocument(): Promise<unknown> {
  const { asyncApiDocument } = await import("../../contract/documents/asyncapi.ts");
  return asyncApiDocument();
}
