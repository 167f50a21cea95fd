import type { Command } from "commander";
import type { Output } from "../output/output.ts";

/** `herald outbox`. */
export function addOutboxCommand(program: Command, output: Output): void {
  program
    .command("outbox")
    .description("send from transactions of your own PostgreSQL database")
    .helpCommand(false)
    .command("sql")
    .description("print what to run once in the database of HERALD_OUTBOX_URL: a table, and the function herald.send")
    .addHelpText("after", "\nExample:\n  herald outbox sql | psql postgres://owner@db.example.org/shop")
    .action(async () => {
      const { outboxSql } = await import("../../server/outbox.ts");
      output.result(outboxSql.trimEnd());
    });
}
