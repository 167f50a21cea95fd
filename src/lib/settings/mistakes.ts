/** The first variable that is surely set by mistake, and what is wrong with it, to be read after its name. */
export function findMistake(variables: Record<string, string>): { name: string; fault: string } | undefined {
  for (const [name, value] of Object.entries(variables)) {
    const fault = serviceLinkFault(name, value) ?? whiteSpaceFault(value);
    if (fault !== undefined) return { name, fault };
  }
  return undefined;
}

/**
 * What is wrong with white space around a value, or `undefined`. It is part of the value, though hardly ever meant, and a secret with
 * it is another secret.
 */
function whiteSpaceFault(value: string): string | undefined {
  const side = value !== value.trimStart() ? "begins" : value !== value.trimEnd() ? "ends" : undefined;
  return (
    side &&
    `${side} with white space; remove it (\`echo\` writes a newline at the end where \`printf '%s'\` writes none, and \`kubectl create secret --from-file\` keeps it)`
  );
}

const portOfService = /^([A-Z][A-Z0-9_]*?)_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;
const hostOfService = /^([A-Z][A-Z0-9_]*?)_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/;

/** What is wrong with a variable that Kubernetes created for a Service (a service link), or `undefined`. */
function serviceLinkFault(name: string, value: string): string | undefined {
  const [, ofPort, detail] = portOfService.exec(name) ?? [];
  const isPort = ofPort !== undefined && (detail !== undefined || /^(tcp|udp|sctp):\/\//.test(value));
  const service = (isPort ? ofPort : hostOfService.exec(name)?.[1])?.toLowerCase().replaceAll("_", "-");
  return (
    service &&
    `is not a setting but a variable that Kubernetes created for the Service \`${service}\`; set \`enableServiceLinks: false\` in the spec of the pod, or give the Service another name`
  );
}
