/** One value of a scrape. */
export type Sample = { name: string; labels: Record<string, string>; value: number };

/** Parses the text format of Prometheus, as far as Herald's metrics use it. */
export function readMetrics(text: string): { types: Map<string, string>; samples: Sample[] } {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type?.[1] !== undefined && type[2] !== undefined) types.set(type[1], type[2]);
    if (line === "" || line.startsWith("#")) continue;
    const [, name = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === "") throw new Error(`not a line of metrics: ${line}`);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", text = ""]) => [label, text]);
    samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return { types, samples };
}

/** The value of the single sample with this name and at least these labels; of workers, their sum. */
export function sampleOf(samples: Sample[], name: string, labels: Record<string, string> = {}): number | undefined {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  );
  const workers = new Set(found.map((sample) => sample.labels.worker));
  if (found.length > workers.size) throw new Error(`${found.length} samples of ${name} with ${JSON.stringify(labels)}`);
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}

/** Reads the value of `sampleOf` from a running server. */
export async function readSample(url: string, ...of: [name: string, labels?: Record<string, string>]) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return sampleOf(readMetrics(text).samples, ...of);
}
