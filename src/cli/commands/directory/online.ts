import type { Command } from "commander";
import type { OnlineUser, PageOptions } from "../../../../sdk/admin.ts";
import { parseUids } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { addListOptions, type ListOptions, printList } from "../../output/pages.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addOrganizationCommand, type InOrganization } from "../../server-commands.ts";

type OnlineOptions = ClientOptions &
  ListOptions &
  InOrganization & { uids?: string[]; devices?: true; lastSeen?: true; count?: true };

const columns: Column<OnlineUser>[] = [
  { title: "USER", cell: ({ id }) => id },
  { title: "CONNECTIONS", cell: ({ connections }) => String(connections) },
];

const lastSeenColumn: Column<OnlineUser> = { title: "LAST SEEN", cell: ({ last_seen }) => last_seen ?? "" };

const deviceColumn: Column<OnlineUser> = {
  title: "DEVICES",
  cell: ({ devices = [] }) => devices.map((device) => device ?? "(none)").join(", "),
  isCutFirst: true,
};

/** `herald users online`. */
export function addOnlineCommand(users: Command, output: Output): void {
  const command = addOrganizationCommand(users, "online", "list the users who are connected now, on all nodes")
    .option("--uids <uid,uid>", "exactly these users, also those who are offline; may be repeated", parseUids)
    .option("--devices", "show the device label of each connection, for the first 20 of --uids")
    .option("--last-seen", "show when the last connection of each user ended, if that is known")
    .option("--count", "print only how many users and connections there are");
  addClientOptions(addListOptions(command))
    .addHelpText(
      "after",
      "\nExamples:\n  herald users online --org demo\n  herald users online --org demo --count\n  herald users online --org demo --uids alice,bob --devices --last-seen",
    )
    .action(async (options: OnlineOptions) => {
      const { org, uids, devices, lastSeen, count, json } = options;
      if (devices && uids === undefined) throw new CliError(exitCodes.usage, "--devices needs --uids.");
      const admin = accessServer(options).admin();
      if (count) {
        const answer = await admin.countOnline(org, uids === undefined ? {} : { uids });
        if (json) return output.json(answer);
        return output.result(`${answer.count} users online, on ${answer.connections} connections`);
      }
      const filter = {
        ...(uids !== undefined && { uids }),
        ...(devices && { devices }),
        ...(lastSeen && { last_seen: lastSeen }),
      };
      const shown = [...columns, ...(lastSeen ? [lastSeenColumn] : []), ...(devices ? [deviceColumn] : [])];
      const { print } = createTable(shown, output);
      const read = (page: PageOptions) => admin.listOnline(org, { ...page, ...filter });
      await printList({ read, print, none: "Nobody is online." }, options, output);
    });
}
