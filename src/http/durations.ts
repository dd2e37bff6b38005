/** Durations in buckets, as Prometheus reads them; counting one is a few additions, for it happens with every request. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Series = { labels: string; buckets: number[]; sum: number; count: number };

export type Durations = {
  /** @param values of the labels, in their order */
  observe: (values: readonly string[], milliseconds: number) => void;
  /** Prometheus text. */
  text: () => string;
};

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const labelsOf = (names: readonly string[], values: readonly string[]): string =>
  names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`).join(',');

const linesOf = (name: string, { labels, buckets, sum, count }: Series): string[] => {
  let below = 0;
  const upTo = bounds.map((bound, index) => {
    below += buckets[index] ?? 0;
    return `${name}_bucket{le="${bound}",${labels}} ${below}`;
  });
  return [
    ...upTo,
    `${name}_bucket{le="+Inf",${labels}} ${count}`,
    `${name}_sum{${labels}} ${sum}`,
    `${name}_count{${labels}} ${count}`,
  ];
};

/** A histogram of seconds. */
export const makeDurations = (name: string, help: string, labels: readonly string[]): Durations => {
  const all = new Map<string, Series>();
  const seriesOf = (values: readonly string[]): Series => {
    const key = values.join('\n');
    const known = all.get(key);
    if (known !== undefined) return known;
    const fresh = { labels: labelsOf(labels, values), buckets: bounds.map(() => 0), sum: 0, count: 0 };
    all.set(key, fresh);
    return fresh;
  };
  return {
    observe: (values, milliseconds) => {
      const seconds = milliseconds / 1000;
      const series = seriesOf(values);
      series.sum += seconds;
      series.count += 1;
      const index = bounds.findIndex((bound) => seconds <= bound);
      if (index >= 0) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
    },
    text: () => {
      const lines = [...all.values()].flatMap((series) => linesOf(name, series));
      return `${[`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines].join('\n')}\n`;
    },
  };
};
