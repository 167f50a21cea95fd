import { exampleHost, exampleKeyFile, type Place, savedKeyFile } from "../../contract/documents/place.ts";
import { isLoopbackHost } from "../../lib/network/addresses.ts";
import type { Peers } from "../../lib/network/client-address.ts";
import type { PublicOrigin } from "../../lib/network/public-origin.ts";

/** Where the reader who made a request reaches this server. */
export type PlaceOf = (request: Request, peers: Peers) => Place;

type Options = {
  publicOriginOf: PublicOrigin;
  basePath: string;
  /** Whether the server's key is where it is by default. The pages are open, so they name no other folder of the machine. */
  hasDefaultKeyFile: boolean;
};

/** Creates the reader of where documentation is read. */
export function createPlaces({ publicOriginOf, basePath, hasDefaultKeyFile }: Options): PlaceOf {
  return (request, peers) => {
    const origin = publicOriginOf(request, peers) ?? `http://${exampleHost}`;
    const isHere = isLoopbackHost(origin.replaceAll(/^https?:\/\/|:\d+$/g, ""));
    return { url: origin + basePath, keyFile: hasDefaultKeyFile && isHere ? exampleKeyFile : savedKeyFile };
  };
}
