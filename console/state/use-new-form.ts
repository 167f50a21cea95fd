import { useEffect, useState } from "preact/hooks";
import { useConsole } from "./context.ts";

/**
 * Whether the form for something new is open on a page, and opens or closes it. An address with `?new=1` opens it, too, such as that of
 * an action of the search.
 */
export function useNewForm(page: string): [isOpen: boolean, set: (isOpen: boolean) => void] {
  const { link, route } = useConsole();
  const isAsked = route.query.new !== undefined;
  const [isOpen, setIsOpen] = useState(isAsked);
  useEffect(() => {
    if (!isAsked) return;
    setIsOpen(true);
    location.replace(link(page)); // so that the same link asks again
  }, [isAsked]);
  return [isOpen, setIsOpen];
}
