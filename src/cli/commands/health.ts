import type { Command } from "commander";
import { z } from "zod";
import { findAddress } from "../access/target.ts";
import { nameCause } from "../errors/connection-failures.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";

/** Longer than `/readyz` waits for the database. */
const timeoutMs = 4_000;

const answerSchema = z.object({ checks: z.record(z.string(), z.string()) });

type Options = { url?: string; config?: string; live?: true };

/** `herald health`. */
export function addHealthCommand(program: Command, output: Output): void {
  program
    .command("health")
    .description("check whether a node accepts requests: exit code 0 if it does, 1 if not; needs no key")
    .option(
      "--url <url>",
      "server address, the internal one if there is one (default: from the settings, like those of the server)",
    )
    .option("--config <file>", "settings file, as for `herald serve`")
    .option("--live", "only check whether the process is alive, as a probe that restarts it should")
    .addHelpText("after", "\nExamples:\n  herald health\n  herald health --live --url http://127.0.0.1:7070")
    .action((options: Options) => checkHealth(options, output));
}

async function checkHealth({ live, ...access }: Options, output: Output): Promise<void> {
  const { url } = findAddress(access);
  const { status, body } = await ask(new URL(live ? "healthz" : "readyz", `${url}/`.replace(/\/+$/, "/")), access);
  const answer = answerSchema.safeParse(body);
  if (!answer.success) throw new CliError(exitCodes.failed, `${url} answered ${status}, but not as Herald does.`);
  for (const [name, result] of Object.entries(answer.data.checks)) output.result(printableLine(`${name}: ${result}`));
  if (status !== 200) throw new CliError(exitCodes.failed, `${url} does not accept requests (${status}).`);
}

async function ask(url: URL, { url: given }: Options): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "manual",
      // The server's own certificate names it as clients do, and not as 127.0.0.1. Nothing secret is sent.
      tls: { rejectUnauthorized: given !== undefined },
    });
    return { status: response.status, body: await response.json().catch(() => undefined) };
  } catch (error) {
    const reason = nameCause(error, error instanceof Error ? error.message : String(error));
    throw new CliError(exitCodes.unreachable, `${url.origin} cannot be reached: ${reason}`);
  }
}
