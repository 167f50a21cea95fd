import { columnsOfFile } from "../harness/reading/columns.ts";
import { filesWith } from "../harness/reading/files.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { describeErasedText } from "./erased-text.ts";

const herald = useHerald({
  oneNode: "it searches the files of an embedded database",
  env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" },
});

// And in no byte of the files: with earlier versions of a page, in the write-ahead log or in what is free.
describeErasedText(herald, async (text) => [
  ...(await columnsOfFile(herald().dataDir, text)),
  ...filesWith(herald().dataDir, text),
]);
