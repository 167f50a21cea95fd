import { testPlanted } from "./planted.ts";
import { plantedInboxBugs } from "./planted-inbox-bugs.ts";

testPlanted(plantedInboxBugs);
