import type { Command } from "commander";
import type { MessageEnvelope, Proposal, SystemMessageEnvelope } from "../../../../sdk/admin.ts";
import { tellId } from "../../errors/advised-error.ts";
import type { Output } from "../../output/output.ts";
import { addCall, addGroup, addOrganizationCommand, type InOrganization } from "../../server-commands.ts";
import { addMessageOptions, messageContentOf } from "../send/message.ts";
import { addSystemOptions, type SystemOptions, systemContentOf } from "../send/system.ts";

type ProposeOptions = InOrganization & { from: string; id?: string; reason?: string };

const messageExample =
  '\nExample:\n  herald propose message --org demo --from alice --to welcome --id answer-4711 --reason "the parcel was late" "We refund the shipping."';
const systemExample = `\nExample:\n  herald propose system --org demo --from alice --everyone --keep-days 7 --x '{"news":"version 2"}'`;

/** `herald propose message` and `system`. */
export function addProposeCommands(program: Command, output: Output): void {
  const propose = addGroup(program, "propose", "propose a send, which somebody with another key approves or rejects");
  const message = addProposeCommand(propose, "message", "propose a message to a conversation");
  addPropose(addMessageOptions(message), output, {
    help: messageExample,
    content: async (...given: Parameters<typeof messageContentOf>) => ({ message: await messageContentOf(...given) }),
  });
  const system = addProposeCommand(
    propose,
    "system",
    "propose a system message to users, to a conversation or to everyone",
  ).requiredOption("--from <uid>", "sender, a user of the organization");
  addPropose(addSystemOptions(system), output, {
    help: systemExample,
    content: (options: SystemOptions) => ({ messageSystem: systemContentOf(options) }),
  });
}

type Content = Pick<MessageEnvelope, "message"> | Pick<SystemMessageEnvelope, "messageSystem">;

function addProposeCommand(propose: Command, name: string, description: string): Command {
  return addOrganizationCommand(propose, name, description)
    .option("--id <id>", "id of the proposal; the same proposal again changes nothing (default: random)")
    .option("--reason <text>", "why it should be sent, for whoever decides");
}

/** Completes a command that proposes a send. */
function addPropose(
  command: Command,
  output: Output,
  { help, content }: { help: string; content(...args: unknown[]): Content | Promise<Content> },
): void {
  addCall<Proposal>(command, output, {
    help,
    async call({ admin }, ...args) {
      const { org, from, id = Bun.randomUUIDv7(), reason }: ProposeOptions = command.opts();
      const request = { organizationId: org, senderId: from, ...(await content(...args)) };
      return await admin()
        .propose(org, id, { request, ...(reason !== undefined && { reason }) })
        .catch(tellId(id));
    },
    done: ({ id, expires_at }) => `proposed as ${id}, to be decided until ${expires_at}`,
  });
}
