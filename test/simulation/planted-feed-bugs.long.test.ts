import { testPlanted } from "./planted.ts";
import { plantedFeedBugs } from "./planted-feed-bugs.ts";

testPlanted(plantedFeedBugs);
