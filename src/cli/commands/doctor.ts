import type { Command } from "commander";
import { loadConfig } from "../../config.ts";
import type { Finding } from "../../server/doctor/finding.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Output, Style } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";

type Options = { config?: string; json?: true };

const subjectWidth = 13;

/** `herald doctor`. */
export function addDoctorCommand(program: Command, output: Output): void {
  program
    .command("doctor")
    .description("check the settings and all that they name: folder, disk, database, bus, address, certificate")
    .option("--config <file>", "settings file, as for `herald serve`")
    .option("--json", "print one JSON object for each finding")
    .addHelpText(
      "after",
      "\nChanges nothing, and may run beside a server. Exits with 1 if something prevents Herald from working.\n\nExamples:\n  herald doctor\n  herald doctor --config /etc/herald/herald.env --json",
    )
    .action(async ({ config: configFile, json }: Options) => {
      const config = loadConfig(process.env, configFile);
      const { diagnose } = await import("../../server/doctor/doctor.ts");
      let failures = 0;
      for await (const finding of diagnose(config)) {
        if (finding.state === "failure") failures++;
        if (json) output.json(finding);
        else output.result(render(finding, output.resultStyle));
      }
      if (failures > 0)
        throw new CliError(
          exitCodes.failed,
          `${failures === 1 ? "one thing needs" : `${failures} things need`} to be fixed`,
        );
    });
}

function render({ subject, state, detail, advice }: Finding, style: Style): string {
  const marks = { ok: "ok  ", warning: style.magenta("warn"), failure: style.red("FAIL") };
  const lines = [`  ${marks[state]}  ${subject.padEnd(subjectWidth)}${printableLine(detail)}`];
  if (advice !== undefined) lines.push(`        ${"".padEnd(subjectWidth)}${style.dim(`→ ${printableLine(advice)}`)}`);
  return lines.join("\n");
}
