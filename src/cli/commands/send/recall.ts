import type { Command } from "commander";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { addOrganizationCommand } from "../../server-commands.ts";
import { addSend } from "./send-command.ts";

type RecallOptions = { cid?: string; system?: true; myself?: true };

const help = `
Examples:
  herald recall --org demo --from alice --cid welcome 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b
  herald recall --org demo --from alice --cid welcome --myself 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b
  herald recall --org demo --from alice --system payment-0815`;

/** `herald recall`. */
export function addRecallCommand(program: Command, output: Output): void {
  const description =
    "take messages of a conversation or system messages back: their contents are removed, and whoever is online hears of it";
  const command = addOrganizationCommand(program, "recall", description)
    .argument(
      "<id...>",
      "server_mids of messages, or mids of system messages, at most 100; all are taken back, or none",
    )
    .requiredOption(
      "--from <uid>",
      "participant who takes them back, whoever sent them, or sender of the system messages",
    )
    .option("--cid <id>", "conversation of the messages")
    .option("--myself", "hide the messages from the lists of <uid> only, and take nothing back")
    .option("--system", "take system messages back");
  addSend(command, output, {
    help,
    content: contentOf,
    tryOut: (admin, { messageDelete, messageSystemDelete, ...envelope }) =>
      messageDelete === undefined
        ? admin.trySystemRecall({ ...envelope, messageSystemDelete })
        : admin.tryRecall({ ...envelope, messageDelete }),
    send: (admin, { messageDelete, messageSystemDelete, ...envelope }) =>
      messageDelete === undefined
        ? admin.recallSystemMessages({ ...envelope, messageSystemDelete })
        : admin.recallMessages({ ...envelope, messageDelete }),
    show(_answer, ids: string[], { system, myself }: RecallOptions) {
      const { size } = new Set(ids);
      const what = system ? "system message" : "message";
      output.result(`${myself ? "hid" : "took back"} ${size === 1 ? `a ${what}` : `${size} ${what}s`}`);
    },
  });
}

type Content =
  | { messageDelete: { cid: string; ids: string[]; type: "all" | "myself" }; messageSystemDelete?: undefined }
  | { messageSystemDelete: { ids: string[] }; messageDelete?: undefined };

function contentOf(ids: string[], { cid, system, myself }: RecallOptions): Content {
  if (cid !== undefined && system === undefined)
    return { messageDelete: { cid, ids, type: myself ? "myself" : "all" } };
  if (system !== undefined && cid === undefined && myself === undefined) return { messageSystemDelete: { ids } };
  const fault = cid === undefined ? "nothing says what to take back" : "too much says what to take back";
  throw new CliError(exitCodes.usage, `${fault}. Give --cid for messages of a conversation, or --system.`);
}
